// Package shrink makes what a search found small: it takes out of an experiment whatever the violation does not need, until
// nothing more can be taken out, and says in what is left what it shows. Start at [Violation].
//
// To add a way to make experiments smaller: a file with its pass, and its line in passes.
package shrink
