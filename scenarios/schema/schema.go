// Package schema has the JSON Schemas of the files that redlocksim reads and writes: for editors, which complete and check
// scenario files with them, and for programs that read results. They are made from the Go types and their comments;
// go test ./scenarios/schema -update makes them anew.
package schema

import _ "embed"

// Scenario is the schema of scenario files.
//
//go:embed scenario.schema.json
var Scenario []byte

// LockProgram is the schema of a line between redlocksim and a lock program: see docs/lock-programs.md.
//
//go:embed lock-program.schema.json
var LockProgram []byte

// Suite is the schema of what suite --json writes.
//
//go:embed suite.schema.json
var Suite []byte
