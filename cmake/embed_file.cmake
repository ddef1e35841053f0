# Writes OUTPUT, a C++ file whose string NAME is the content of SOURCE. Raw literals are limited to about 64 kB
# by some compilers, so the bytes are written as numbers.
file(READ ${SOURCE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {${bytes}0};\n")
