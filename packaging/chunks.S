# chunks.S - the compiled Lua files (runtime/host/chunks.h) as a part of the program.
# CHUNKS is the file that packaging/chunk_writer.c wrote.
    .section .rodata
    .balign 16
    .globl chunks_block
chunks_block:
    .incbin CHUNKS
    .section .note.GNU-stack, "", %progbits
