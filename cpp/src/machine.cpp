// Each system is asked in its own way; the words of other systems are in no other file.
#include "machine.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "words.h"

#ifdef _WIN32
#ifndef NOMINMAX  // GCC's library defines it
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace clipperplus::inline v0 {

#ifdef _WIN32
std::optional<std::size_t> machine_memory() {
  MEMORYSTATUSEX answer{};
  answer.dwLength = sizeof(answer);
  if (!GlobalMemoryStatusEx(&answer)) return std::nullopt;
  return static_cast<std::size_t>(answer.ullTotalPhys);
}
#else
std::optional<std::size_t> machine_memory() {
  std::uint64_t least = UINT64_MAX;
  const auto know = [&](std::uint64_t bytes) {
    if (bytes > 0) least = std::min(least, bytes);
  };
  const auto pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) know(static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page));
  // What a container may have, in both versions of control groups.
  for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t bytes = 0;
    if (std::ifstream(name) >> bytes) know(bytes);  // there may be none, or it says "max"
  }
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) know(limit.rlim_cur);
  }
  if (least == UINT64_MAX) return std::nullopt;
  return static_cast<std::size_t>(least);
}
#endif

void check_fits(const std::string& what, std::size_t needed) {
  if (needed < kAlwaysFine) return;
  const auto memory = machine_memory();
  if (!memory || needed <= *memory) return;
  const auto gibibytes = [](std::size_t bytes) { return fixed_text(static_cast<double>(bytes) / 0x1p30, 1); };
  refuse(what, " about ", gibibytes(needed), " GiB, this machine has ", gibibytes(*memory), "; expected fewer");
}

}  // namespace clipperplus::inline v0
