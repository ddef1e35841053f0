# Install and packages. Everything is found relative to the library, so that the installed tree can be moved.
include(CMakePackageConfigHelpers)
install(TARGETS penn EXPORT penn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS penn_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY penn/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penn FILES_MATCHING PATTERN "*.h"
        PATTERN cli EXCLUDE PATTERN "toml_reader.h" EXCLUDE PATTERN "linear_filter.h" EXCLUDE)
install(DIRECTORY systems models examples DESTINATION ${CMAKE_INSTALL_DATADIR}/penn PATTERN evaluations EXCLUDE)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# ---- find_package(penn) and pkg-config -----------------------------------------------------------
set(PENN_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/penn)
install(EXPORT penn NAMESPACE penn:: FILE penn-targets.cmake DESTINATION ${PENN_CMAKE_FOLDER})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/penn-config.cmake [[
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json)
include(${CMAKE_CURRENT_LIST_DIR}/penn-targets.cmake)
]])
# Until version 1, a new minor version may change anything.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/penn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/penn-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/penn-config-version.cmake
        DESTINATION ${PENN_CMAKE_FOLDER})
file(RELATIVE_PATH PENN_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/penn.pc.in penn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/penn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- Debian package (make deb) -------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The penn authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Parameters of stochastic systems from recordings, with honest uncertainty")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what program and library are linked with, in their versions
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | c++-compiler")          # compiles equations: up to twice as fast
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, nlohmann-json3-dev")     # for programs that use the library
include(CPack)
