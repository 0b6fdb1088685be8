(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @of (pointer_type (type_identifier) @of) (generic_type type: (type_identifier) @of)
  (pointer_type (generic_type type: (type_identifier) @of))])) name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @interface
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @type
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(method_elem name: (field_identifier) @name) @function
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
