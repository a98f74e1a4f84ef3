// Package search looks for schedules that nobody wrote down: it draws experiments at random from a Space of settings and
// assumptions, runs them on tier model, keeps going where the lock escaped most narrowly, and shrinks what it finds.
//
// A search is a sequence of generations. What a generation consists of is a pure function of the results of those before
// it, so that neither the number of workers nor an interruption changes what is found.
package search
