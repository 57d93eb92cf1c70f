// clipperplus-clique GRAPH: the largest clique of a graph file, without Python.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "clipperplus/clipperplus.h"

namespace {

using namespace clipperplus;

constexpr const char* kUsage =
    "usage: clipperplus-clique GRAPH [--method auto|exact|clipper+|greedy] [--time-limit S] [--threads N]\n"
    "                          [--size-limit MIB] [--version]\n"
    "\n"
    "Prints the largest clique of a .clq, .col, .clq.b, .col.b, .mtx, .txt or .edges file, and whether it is proven "
    "to\n"
    "be the largest.\n"
    "A graph may take 256 MiB, or 100 times the size of the file, unless --size-limit says more.\n"
    "Ctrl-C ends the search with the best clique so far.\n"
    "Exit status: 0 done, 130 interrupted, 2 wrong input.\n";

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

struct Arguments {
  std::string graph;
  CliqueOptions options;
  std::optional<std::size_t> size_limit;
  bool help = false, version = false;
};

// In one line that no terminal obeys: names of files may hold any character. As in Python, \x1b and its like.
std::string visible(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto byte = [&](std::size_t k) {
      return k < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[k])) : 0U;
    };
    unsigned code = byte(0);
    std::size_t length = 1;
    if ((byte(0) & 0xE0U) == 0xC0U && (byte(1) & 0xC0U) == 0x80U) {  // as UTF-8
      code = (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
      length = 2;
    } else if ((byte(0) & 0xF0U) == 0xE0U && (byte(1) & 0xC0U) == 0x80U && (byte(2) & 0xC0U) == 0x80U) {
      code = (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
      length = 3;
    }
    const auto within = [&](unsigned low, unsigned high) { return low <= code && code <= high; };
    const bool control = code < 0x20U || (within(0x7FU, 0x9FU) && (length == 2 || code == 0x7FU));
    const bool turns = length > 1 && (code == 0x61CU || within(0x200EU, 0x200FU) || within(0x2028U, 0x202EU) ||
                                      within(0x2066U, 0x2069U));  // the direction of the text
    if (control || turns) {
      char word[16];
      if (code == '\n' || code == '\r' || code == '\t') {
        std::snprintf(word, sizeof word, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
      } else {
        std::snprintf(word, sizeof word, code < 0x100U ? "\\x%02x" : "\\u%04x", code);
      }
      shown += word;
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return shown;
}

// The whole word, or nothing.
template <class Number, class Convert>
Number as_number(const char* what, const std::string& option, const std::string& text, Convert convert) {
  try {
    std::size_t used = 0;
    const auto value = convert(text, &used);
    if (used == text.size() && value >= 0) return static_cast<Number>(value);
  } catch (const std::logic_error&) {  // no number, or too large for one
  }
  throw std::invalid_argument(option + ": expected " + what + " of at least 0, got '" + text + "'");
}

double as_real(const std::string& option, const std::string& text) {
  return as_number<double>("a number", option, text,
                           [](const std::string& word, std::size_t* used) { return std::stod(word, used); });
}

std::size_t as_integer(const std::string& option, const std::string& text) {
  return as_number<std::size_t>("an integer", option, text,
                                [](const std::string& word, std::size_t* used) { return std::stoll(word, used); });
}

std::size_t as_bytes(const std::string& option, const std::string& text) {
  constexpr double kMost = 0x1p40;
  const double mebibytes = as_real(option, text);
  if (mebibytes > kMost) throw std::invalid_argument(option + ": expected a number up to 2**40, got '" + text + "'");
  return static_cast<std::size_t>(mebibytes * 0x1p20);
}

Method as_method(const std::string& text) {
  for (const Method method : {Method::Auto, Method::Exact, Method::ClipperPlus, Method::Greedy}) {
    if (text == name_of(method)) return method;
  }
  throw std::invalid_argument("--method: expected auto, exact, clipper+ or greedy, got '" + text + "'");
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    const auto value = [&]() -> std::string {
      if (++k == count) throw std::invalid_argument(word + ": expected a value");
      return words[k];
    };
    if (word == "--method") {
      arguments.options.method = as_method(value());
    } else if (word == "--time-limit") {
      arguments.options.time_limit = as_real(word, value());
    } else if (word == "--threads") {
      arguments.options.threads = as_integer(word, value());
    } else if (word == "--size-limit") {
      arguments.size_limit = as_bytes(word, value());
    } else if (word == "--help" || word == "-h" || word == "--version") {
      (word == "--version" ? arguments.version : arguments.help) = true;
    } else if (word.starts_with("-") || !arguments.graph.empty()) {
      throw std::invalid_argument("unexpected argument '" + word + "'; clipperplus-clique --help says what there is");
    } else {
      arguments.graph = word;
    }
  }
  if (arguments.graph.empty() && !arguments.help && !arguments.version) {
    throw std::invalid_argument("expected the name of a graph file; clipperplus-clique --help says more");
  }
  return arguments;
}

const char* words_of(Certificate certificate) {
  return certificate == Certificate::CoreBound     ? "core bound"
         : certificate == Certificate::ColourBound ? "colour bound"
                                                   : "search";
}

void print(const std::string& name, const Graph& graph, const CliqueResult& found) {
  std::printf("%s: %zu vertices, %zu edges\n", visible(name).c_str(), graph.num_vertices(), graph.num_edges());
  if (found.optimal()) {
    std::printf("maximum clique: %zu vertices, proven by the %s\n", found.size(), words_of(found.certificate));
  } else {
    std::printf("clique: %zu vertices, not proven maximum: no clique has more than %zu\n", found.size(),
                found.upper_bound);
  }
  if (found.interrupted) std::puts("interrupted: this is the best clique so far");
  std::printf("seconds: %.6f\nvertices (from 0):", found.seconds);
  for (const Vertex v : found.vertices) std::printf(" %d", static_cast<int>(v));
  std::puts("");
}

int run(int count, char** words) {
  Arguments arguments = parse(count, words);
  if (arguments.help || arguments.version) {
    std::fputs(arguments.help ? kUsage : (std::string(kVersion) + "\n").c_str(), stdout);
    return 0;
  }
  const Graph graph = read_graph(arguments.graph, arguments.size_limit);
  arguments.options.stop = [] { return interrupted != 0; };
  if (std::signal(SIGINT, on_interrupt) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  const CliqueResult found = find_clique(graph, arguments.options);
  print(arguments.graph, graph, found);
  return found.interrupted ? 130 : 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    const int status = run(count, words);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::perror("clipperplus-clique: standard output");
  } catch (const std::bad_alloc&) {
    std::fputs("clipperplus-clique: the graph is too large for the memory of this machine\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clipperplus-clique: %s\n", visible(error.what()).c_str());
  }
  return 2;
}
