(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program [
  (lexical_declaration "const" (variable_declarator name: (identifier) @name value: (_)? @_value) @constant)
  (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name value: (_)? @_value) @constant))]
  (#not-match? @_value "^(await )?(require|import)\\b"))
(program [
  (_ (variable_declarator name: (identifier) @name) @constant)
  (export_statement (_ (variable_declarator name: (identifier) @name) @constant))]
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
(expression_statement (assignment_expression left: (member_expression object: (this)) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @method)
(expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @function)
(expression_statement (assignment_expression left: (member_expression) @name right: (class)) @class)
(expression_statement (assignment_expression left: (member_expression) @name) @constant
  (#match? @name "^(module\\.)?exports\\.[A-Z][A-Z0-9_]*$"))
(export_statement value: [(arrow_function) (function_expression) (generator_function)] @name) @function
(export_statement value: (class) @name) @class
(class_body (method_definition
  name: [(property_identifier) (private_property_identifier) (string) (number)] @name) @method)
(object (method_definition name: [(property_identifier) (string) (number)] @name) @method)
(object (pair key: [(property_identifier) (string)] @name
  value: [(arrow_function) (function_expression) (generator_function) (class)]) @method)
(object (pair key: [(property_identifier) (string)] @name value: (object)) @scope)
