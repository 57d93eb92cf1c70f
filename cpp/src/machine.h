// What this process can have of the machine, and what it was asked for that is more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace clipperplus::inline v0 {

// Bytes that are not worth asking the system for.
inline constexpr std::size_t kAlwaysFine = std::size_t{256} << 20;

// Bytes: those of the machine, or of the container, or what the process may have of them; nothing where the system does
// not say. Systems promise more, and end the process, or another one, when it is used.
std::optional<std::size_t> machine_memory();

// Refuses what needs more. `what` begins the message.
void check_fits(const std::string& what, std::size_t needed);

}  // namespace clipperplus::inline v0
