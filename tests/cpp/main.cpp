// The main function of every test program; doctest is compiled here, once.
#include <cfloat>  // which doctest forgets to include on macOS

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
