#include "clipperplus/graph_file.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "graph/graph_text.h"
#include "machine.h"
#include "words.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

namespace {

using Parser = Graph (*)(std::string_view text, std::size_t limit);

template <Graph (*parse)(std::string_view, VertexWeights&, std::size_t)>
Graph without_weights(std::string_view text, std::size_t limit) {
  VertexWeights weights;
  return parse(text, weights, limit);
}

constexpr Parser kAscii = without_weights<parse_dimacs>, kBinary = without_weights<parse_dimacs_binary>;
constexpr std::pair<std::string_view, Parser> kFormats[] = {
    {".clq", kAscii},
    {".col", kAscii},
    {".clq.b", kBinary},
    {".col.b", kBinary},
    {".mtx", parse_matrix_market},
    {".txt", parse_edge_list},
    {".edges", parse_edge_list},
};

// What a graph may take without being asked for: the rule of the Python package, whose _limits.py says why.
constexpr std::size_t kHighestRatio = 100;

// For messages: any name can be written in UTF-8, which not all of Windows' own encodings can say.
std::string name_of(const std::filesystem::path& path) {
  const auto name = path.u8string();
  return {name.begin(), name.end()};
}

Parser parser_of(const std::string& path) {
  if (path.find('\0') != std::string::npos) refuse("path: expected a name without null characters");
  std::string lower = path, known;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const auto& [ending, parser] : kFormats) {
    if (lower.ends_with(ending)) return parser;
    known.append(" ").append(ending);
  }
  refuse(path, ": unknown kind of graph file; known endings are", known);
}

// Of a file of so many bytes.
std::size_t usual_limit(std::size_t size) {
  const std::size_t limit = std::max(kAlwaysFine, kHighestRatio * size);
  return std::min(limit, machine_memory().value_or(limit));
}

[[noreturn]] void refuse_size(const std::filesystem::path& path, std::size_t needed, std::size_t size,
                              std::size_t limit) {
  const std::string mebibytes = fixed_text(static_cast<double>(needed) / 0x1p20, 0);
  refuse(name_of(path), ": what it holds takes ", needed, " bytes or more (", mebibytes, " MiB), of a file of ", size,
         "; ", limit, " are allowed, unless size_limit says more");
}

const char* kind_of(std::filesystem::file_type type) {
  using Type = std::filesystem::file_type;
  if (type == Type::directory) return "a folder";
  if (type == Type::fifo) return "a pipe";
  return type == Type::socket ? "a socket" : "a device";
}

struct Content {
  std::string text;
  std::size_t limit;  // bytes that what it holds may take
};

// The content of a file that is not larger than may be.
Content read_content(const std::filesystem::path& path, std::optional<std::size_t> size_limit) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(name_of(path), ": no such file");
  if (!std::filesystem::is_regular_file(status)) {  // a pipe or a device may never end
    refuse(name_of(path), ": expected a regular file, this is ", kind_of(status.type()));
  }
  std::ifstream file(path, std::ios::binary);
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path, error));
  if (error) refuse(name_of(path), ": cannot be read");
  const std::size_t limit = size_limit ? *size_limit : usual_limit(size);
  if (size > limit) refuse_size(path, size, size, limit);
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    refuse(name_of(path), ": cannot be read");
  }
  return {std::move(text), limit};
}

}  // namespace

Graph read_graph(const std::filesystem::path& path, std::optional<std::size_t> size_limit) {
  const Parser parse = parser_of(name_of(path));
  const auto [text, limit] = read_content(path, size_limit);
  try {
    return parse(text, limit);
  } catch (const TextTooLarge& needed) {
    refuse_size(path, needed.bytes, text.size(), limit);
  } catch (const std::invalid_argument& error) {
    refuse(name_of(path), ": ", error.what());
  }
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
