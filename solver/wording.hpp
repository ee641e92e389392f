#pragma once

// How the solver's messages name things: conditions, channels.

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// "if python >=3.10 and numpy are installed", "for its extra test"; not for a constant.
std::string condition_text(const Universe& universe, ConditionId condition);

/// The end of a channel's URL that no other channel of the problem ends in, which as the channel
/// of a spec means this one: "conda-forge".
std::string channel_text(const Problem& problem, const std::string& base_url);

/// The same for messages, where a local channel is its folder: "/data/channel".
std::string channel_title(const Problem& problem, const std::string& base_url);

/// The channels of the problem, the highest first.
std::vector<std::string> channel_titles(const Problem& problem);

/// "as installed", "as in the lock"
std::string as_before(const Problem& problem);

/// "; use --for to name the machine it will run on"; empty if a machine is named, or has a GPU or a
/// driver of the vendor.
std::string for_another_machine(const Problem& problem, Accelerator vendor);

/// " (to see why: gpkg why-not numpy=2 pandas)"; empty where the request is of a lock.
std::string how_to_see_why(const Problem& problem, const std::string& spec);

/// "CUDA build": the builds of `name` that the request is restricted to.
std::string requested_build(const Universe& universe, NameId name);

/// The accelerator, BLAS or MPI of a record, by the reason to leave it out: "nvidia", "mkl".
std::string trait_of(LeftOut::Why why, const PackageRecord& record);

/// Of a record that is other than the installed one of `name`: "the installed one is a CUDA build".
std::string what_stays(const Universe& universe, NameId name, const LeftOut& out);

/// Why a record of `name` is left out, for parentheses after its version: "in conda-forge, hidden
/// by strict channel priority".
std::string left_out_text(const Universe& universe, NameId name, const LeftOut& out);

/// The spec that requests a record unlike the installed one.
std::string spec_allowing(const Universe& universe, NameId name, const LeftOut& out);

}  // namespace gpkg::solver
