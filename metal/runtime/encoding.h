// Objective-C type encodings of the plain structs that Metal's methods take and give.
#pragma once

#include "metal/objc/encoding.h"
#include "metal/runtime/types.h"

template <>
inline constexpr std::string_view objc::encoding<mtl::Size> = "{?=QQQ}";
template <>
inline constexpr std::string_view objc::encoding<mtl::Origin> = "{?=QQQ}";
template <>
inline constexpr std::string_view objc::encoding<mtl::Region> = "{?={?=QQQ}{?=QQQ}}";
template <>
inline constexpr std::string_view objc::encoding<mtl::Range> = "{_NSRange=QQ}";
template <>
inline constexpr std::string_view objc::encoding<mtl::SizeAndAlign> = "{?=QQ}";
template <>
inline constexpr std::string_view objc::encoding<mtl::ResourceID> = "{MTLResourceID=Q}";
template <>
inline constexpr std::string_view objc::encoding<mtl::ResourceOptions> = "Q";
template <>
inline constexpr std::string_view objc::encoding<mtl::AccelerationStructureSizes> = "{?=QQQ}";
