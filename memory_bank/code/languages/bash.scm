(function_definition name: (_) @name) @function
(program (variable_assignment name: (variable_name) @name) @constant (#match? @name "^[A-Z][A-Z0-9_]*$"))
(program (declaration_command "readonly" (variable_assignment name: (variable_name) @name) @constant))
(program (declaration_command ["declare" "typeset"] (word) @_option (variable_assignment name: (variable_name) @name) @constant)
  (#match? @_option "^-[a-zA-Z]*r"))
(program (declaration_command (variable_assignment name: (variable_name) @name) @constant)
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
