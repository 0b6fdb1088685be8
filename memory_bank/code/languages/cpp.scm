(function_definition declarator: (_) @name (field_initializer_list) @body) @function
(class_specifier name: (_) @name body: (_)) @class
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(namespace_definition name: (_) @name body: (_)) @module
(field_declaration (type_qualifier) @_fixed declarator: (_) @name default_value: (_) (#match? @_fixed "^const")) @constant
(field_declaration declarator: (function_declarator) @name default_value: (_) @_value (#eq? @_value "0")) @function
(field_declaration declarator: (pointer_declarator (function_declarator)) @name default_value: (_) @_value
  (#eq? @_value "0")) @function
(field_declaration declarator: (reference_declarator (function_declarator)) @name default_value: (_) @_value
  (#eq? @_value "0")) @function
