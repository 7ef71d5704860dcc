#include "modules/io_parameters/archive.h"

#include <filesystem>

namespace bessemer::modules {

vm::Result<Archive> openArchive(const std::string& path, bool writable) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (extension != ".irpa" && extension != ".safetensors" && extension != ".gguf")
    return vm::fail(vm::StatusCode::InvalidArgument, "cannot read parameters from ", path,
                    ": the name must end in .irpa, .gguf or .safetensors");
  BESSEMER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::FileMapping> file,
                            vm::FileMapping::open(path, writable ? vm::FileMapping::Mode::ReadWrite
                                                                 : vm::FileMapping::Mode::Read));
  auto archive = extension == ".irpa"   ? readIrpa(std::move(file), path, writable)
                 : extension == ".gguf" ? readGguf(std::move(file), path)
                                        : readSafetensors(std::move(file), path);
  if (!archive)
    return std::unexpected(std::move(archive.error()).prefix(path));
  return archive;
}

} // namespace bessemer::modules
