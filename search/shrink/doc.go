// Package shrink makes what a search found small: it takes out of an experiment whatever the violation does not need, until
// nothing more can be taken out, and says in what is left what it shows. Start at [Violation].
//
// Most of it leaves out parts of the file, whatever they are ([leaveOut]); the other passes know what a smaller time, size or
// name is. To add a way to make experiments smaller: a pass, and its line in passes.
package shrink
