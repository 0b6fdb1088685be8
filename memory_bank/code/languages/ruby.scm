(class name: (_) @name [(comment) (body_statement) "end"]+ @body) @class
(module name: (_) @name [(comment) (body_statement) "end"]+ @body) @module
(program (method name: (_) @name [(comment) (body_statement) "end"]+ @body) @function)
(method name: (_) @name [(comment) (body_statement) "end"]+ @body) @method
(singleton_method name: (_) @name [(comment) (body_statement) "end"]+ @body) @method
(assignment left: [(constant) (scope_resolution)] @name right: (call block: (_)? @body) @_made
  (#match? @_made "^(Struct\\.new|Data\\.define)\\b")) @type
(assignment left: [(constant) (scope_resolution)] @name right: (call block: (_)? @body) @_made
  (#match? @_made "^Class\\.new\\b")) @class
(assignment left: [(constant) (scope_resolution)] @name right: (call block: (_)? @body) @_made
  (#match? @_made "^Module\\.new\\b")) @module
(assignment left: [(constant) (scope_resolution)] @name) @constant
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
