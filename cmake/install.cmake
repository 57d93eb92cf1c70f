# What find_package(clipperplus) and pkg-config need, beside the library and its public headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/clipperplus)

install(TARGETS clipperplus_core EXPORT clipperplus-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY cpp/include/clipperplus ${PROJECT_BINARY_DIR}/include/clipperplus
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT clipperplus-targets NAMESPACE clipperplus:: DESTINATION ${package_dir})
write_basic_package_version_file(clipperplus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/clipperplus-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/clipperplus-config-version.cmake
  DESTINATION ${package_dir})

get_target_property(type clipperplus_core TYPE)
set(pc_cflags "")
set(pc_libs -pthread)
if(type STREQUAL "SHARED_LIBRARY")
  set(pc_cflags -DCLIPPERPLUS_SHARED)
  set(pc_libs "")
endif()
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # from where the file lies: it can be moved
configure_file(cmake/clipperplus.pc.in clipperplus.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clipperplus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
