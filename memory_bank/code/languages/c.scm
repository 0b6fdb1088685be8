(function_definition declarator: (_) @name) @function
(type_definition type: (enum_specifier body: (_) @body) declarator: (_) @name) @enum
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)] declarator: (_) @name) @type
(type_definition declarator: (_) @name) @type
(enum_specifier name: (_) @name body: (_)) @enum
(struct_specifier name: (_) @name body: (_)) @type
(union_specifier name: (_) @name body: (_)) @type
(declaration (type_qualifier) @_fixed declarator: (init_declarator) @name (#match? @_fixed "^const")) @constant
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name value: (_)? @body) @function
