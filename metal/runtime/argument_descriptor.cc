#include "metal/runtime/argument_descriptor.h"

#include "metal/runtime/encoding.h"
#include "metal/runtime/property.h"

namespace mtl {
namespace {

using D = ArgumentDescriptor;
using P = Properties<D, ArgumentDescriptorValues>;

ArgumentDescriptor* make(objc::Class*) { return objc::make<ArgumentDescriptor>().autorelease(); }

} // namespace

OBJC_DEFINE_CLASS(
    ArgumentDescriptor, "MTLArgumentDescriptor", objc::Object,
    .methods =
        {
            objc::method<&P::get<&D::data_type>>("dataType"),
            objc::method<&P::set<&D::data_type>>("setDataType:"),
            objc::method<&P::get<&D::index>>("index"),
            objc::method<&P::set<&D::index>>("setIndex:"),
            objc::method<&P::get<&D::array_length>>("arrayLength"),
            objc::method<&P::set<&D::array_length>>("setArrayLength:"),
            objc::method<&P::get<&D::access>>("access"),
            objc::method<&P::set<&D::access>>("setAccess:"),
            objc::method<&P::get<&D::texture_type>>("textureType"),
            objc::method<&P::set<&D::texture_type>>("setTextureType:"),
            objc::method<&P::get<&D::constant_block_alignment>>("constantBlockAlignment"),
            objc::method<&P::set<&D::constant_block_alignment>>("setConstantBlockAlignment:"),
            objc::method<&P::copy>("copyWithZone:"),
        },
    .class_methods = {objc::method<&make>("argumentDescriptor")}, .protocols = {"NSCopying"});

} // namespace mtl
