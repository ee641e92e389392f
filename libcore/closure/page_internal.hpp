#pragma once

#include <string_view>

namespace gpkg {

/// The text of page.html. Its places for what differs are {{TITLE}}, {{SUMMARY}}, {{ROWS}} and
/// {{DATA}}.
extern const std::string_view kPage;

}  // namespace gpkg
