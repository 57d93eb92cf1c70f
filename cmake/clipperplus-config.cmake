include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/clipperplus-targets.cmake)
foreach(component ${clipperplus_FIND_COMPONENTS})  # there are none
  if(clipperplus_FIND_REQUIRED_${component})
    set(clipperplus_FOUND FALSE)
    set(clipperplus_NOT_FOUND_MESSAGE "clipperplus has no component ${component}")
  endif()
endforeach()
