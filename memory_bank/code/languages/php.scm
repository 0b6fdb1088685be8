(class_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(method_declaration name: (_) @name) @method
(function_definition name: (_) @name) @function
(namespace_definition name: (_) @name) @module
(const_declaration (const_element . (_) @name)) @constant
(function_call_expression function: (name) @_called arguments: (arguments . (argument (_) @name) (argument))
  (#eq? @_called "define") (#match? @name "^['\"][A-Za-z_0-9\\\\]+['\"]$")) @constant
