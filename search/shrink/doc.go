// Package shrink makes a scenario that shows something small: it takes out of it whatever is not needed for that, until
// nothing more can be taken out, and writes what is left as a scenario file or as a Go test.
//
// [Shrink] is the entry point; [SameClass] is what to keep in it. [Counterexample] then says in the scenario what it
// shows, and [GoTest] wraps it into a test.
//
// To add a way to make scenarios smaller: a file with its pass, and its line in passes.
package shrink
