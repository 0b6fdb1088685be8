(field_definition property: (_) @name value: [(arrow_function) (function_expression) (generator_function) (class)]) @method
(field_definition property: (_) @name value: (_) (#match? @name "^#?[A-Z][A-Z0-9_]*$")) @constant
