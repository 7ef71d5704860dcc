# A file's bytes as a C array, for whichever object format the compiler writes:
#   cmake -DINPUT=file -DOUTPUT=file.c -DNAME=symbol -P embed_bytes.cmake
# defines `const unsigned char symbol[]` and `const size_t symbol_size`.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
       "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include <stddef.h>\n\n"
  "extern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\n"
  "_Alignas(64) const unsigned char ${NAME}[] = {\n${bytes}};\n"
  "const size_t ${NAME}_size = ${size};\n")
