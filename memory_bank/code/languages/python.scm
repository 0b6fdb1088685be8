(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(module (expression_statement . (assignment left: (identifier) @name) .) @constant
  (#match? @name "^_{0,2}[A-Z][A-Z0-9_]*$"))
(class_definition body: (block (expression_statement . (assignment left: (identifier) @name) .) @constant)
  (#match? @name "^_{0,2}[A-Z][A-Z0-9_]*$"))
