# Read by IREE's build: docs/iree-driver.md.
iree_register_external_hal_driver(
  NAME bessemer-metal
  SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}/iree"
  DRIVER_TARGET bessemer_driver_metal
  REGISTER_FN iree_hal_metal_driver_module_register)
