(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name . ["{" "(" "["] @body) @function
(struct_item name: (_) @name) @type
(union_item name: (_) @name) @type
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(enum_item name: (_) @name) @enum
(trait_item name: (_) @name) @interface
(mod_item name: (identifier) @name body: (_)) @module
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(impl_item type: [(generic_type type: (_) @name) (reference_type type: (_) @name) (dynamic_type trait: (_) @name)]) @scope
(impl_item type: (_) @name) @scope
