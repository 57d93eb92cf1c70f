// CLIPPERPLUS_API marks what a shared library shows; all else of it is hidden. CMake and pkg-config define
// CLIPPERPLUS_SHARED where the library is a shared one.
#pragma once

#include <cstddef>  // defines what the standard library says of itself

#if !defined(CLIPPERPLUS_SHARED)
#define CLIPPERPLUS_API
#elif !defined(_WIN32)
#define CLIPPERPLUS_API __attribute__((visibility("default")))
#elif defined(CLIPPERPLUS_BUILDING)
#define CLIPPERPLUS_API __declspec(dllexport)
#else
#define CLIPPERPLUS_API __declspec(dllimport)
#endif

// The namespace of what holds vectors, strings and functions of the standard library, whose layout depends on which one
// it is and how a program is compiled: one that is compiled otherwise than the library does not link, instead of
// crashing.
#if defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI && defined(_GLIBCXX_DEBUG)
#define CLIPPERPLUS_ABI old_debug_abi
#elif defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
#define CLIPPERPLUS_ABI old_abi
#elif defined(_GLIBCXX_DEBUG)
#define CLIPPERPLUS_ABI debug_abi
#elif defined(_LIBCPP_VERSION)
#define CLIPPERPLUS_ABI libcxx_abi
#else
#define CLIPPERPLUS_ABI usual_abi
#endif
