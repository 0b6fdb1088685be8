(public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function) (class)]) @method
(public_field_definition name: (_) @name value: (_) (#match? @name "^#?[A-Z][A-Z0-9_]*$")) @constant
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(type_alias_declaration name: (_) @name) @type
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
(function_signature name: (_) @name) @function
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
([(internal_module body: (statement_block [
  (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant))]))
  (module body: (statement_block [
  (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant))]))])
(program (ambient_declaration (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant)))
