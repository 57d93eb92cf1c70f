// CLIPPERPLUS_API marks what a shared library shows; all else of it is hidden. CMake and pkg-config define
// CLIPPERPLUS_SHARED where the library is a shared one.
#pragma once

#if !defined(CLIPPERPLUS_SHARED)
#define CLIPPERPLUS_API
#elif !defined(_WIN32)
#define CLIPPERPLUS_API __attribute__((visibility("default")))
#elif defined(CLIPPERPLUS_BUILDING)
#define CLIPPERPLUS_API __declspec(dllexport)
#else
#define CLIPPERPLUS_API __declspec(dllimport)
#endif
