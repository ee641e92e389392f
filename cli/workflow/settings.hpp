#pragma once

// The user's settings as the parts of gpkg take them.

#include "cli/context.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/channel/trusted_channel.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/net/transport.hpp"

#include <memory>

namespace gpkg::cli {

/// What channels' names stand for.
ChannelContext channel_context(const Context& context);
/// The same of other settings than those that hold.
ChannelContext channel_context(const Config& config, const fs::path& home);

/// Of logins in configuration files that other users can read. The system's files are its
/// administrator's business.
void warn_of_shared_secrets(Context& context);
/// "/etc/x.yaml: contains a token or password, and other users can read it; run chmod 600 ..."
std::string shared_secret_text(const fs::path& file);

/// Which channels have to be signed, and by whom.
Result<TrustOptions> trust_options(const Context& context);

/// Proxies, certificates, logins and mirrors, by the environment, else by the configuration.
Result<TransportOptions> transport_options(const Context& context);

/// The way to the network: proxies, certificates and logins by the environment, else by the
/// configuration. Warns where certificates are not looked at. There is one for the whole command,
/// so that connections live on.
Result<std::shared_ptr<Transport>> open_transport(const Context& context);

/// "cuda" -> "CONDA_OVERRIDE_CUDA"
inline constexpr std::string_view kOverrides = "CONDA_OVERRIDE_";
std::string override_variable(std::string_view package);

/// What the configuration says of accelerators for new environments, where nothing else is said.
Result<void> heed_usual_accelerator(const Context& context, AcceleratorWishes& wishes);

}  // namespace gpkg::cli
