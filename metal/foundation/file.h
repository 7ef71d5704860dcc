// Whole files, and the path methods of NSString.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metal/foundation/array.h"
#include "metal/foundation/error.h"
#include "metal/foundation/string.h"

namespace ns {

/// The bytes of a file; nothing, and an error of NSCocoaErrorDomain that names the path, on
/// failure.
std::optional<std::string> read_file(const std::string& path, Error** error);
/// `atomically`: by way of a new file beside it that is renamed.
bool write_file(const std::string& path, std::string_view bytes, bool atomically, Error** error);
/// An error for errno, with the path in its text.
Ref<Error> file_error(int error_number, const std::string& path, bool reading);

// Methods of NSString.
String* path_appending(String* self, String* component);
String* path_without_last(String* self);
String* path_last(String* self);
String* path_extension(String* self);
String* path_without_extension(String* self);
String* path_with_extension(String* self, String* extension);
Array* path_components(String* self);
String* path_expanding_tilde(String* self);
String* path_standardized(String* self);
bool path_is_absolute(String* self);
String* path_with_components(objc::Class* cls, Array* components);

} // namespace ns
