// From points that were read to a graph.
#pragma once

#include "api/arguments.h"
#include "clipperplus/consistency_graph.h"

namespace clipperplus::inline v0::api {

Graph join(const Matches& matches, const ConsistencyOptions& options);

}  // namespace clipperplus::inline v0::api
