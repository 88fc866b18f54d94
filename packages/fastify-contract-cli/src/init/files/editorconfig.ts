/** The .editorconfig of a new project: the layout of the files that `init` and `generate` write. */
export const editorconfig = `root = true

[*]
charset = utf-8
end_of_line = lf
insert_final_newline = true
indent_style = space
indent_size = 2
trim_trailing_whitespace = true
`
