(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @type
(delegate_declaration name: (_) @name) @type
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(destructor_declaration name: (_) @name) @method
(operator_declaration operator: _ @name) @method
(local_function_statement name: (_) @name) @function
(namespace_declaration name: (_) @name) @module
(file_scoped_namespace_declaration name: (_) @name) @module
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @constant
(field_declaration (modifier "static") (modifier "readonly")
  (variable_declaration (variable_declarator name: (_) @name))) @constant
(field_declaration (modifier "readonly") (modifier "static")
  (variable_declaration (variable_declarator name: (_) @name))) @constant
