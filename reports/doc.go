// Package reports renders results for people and for programs: the numbered story of a run, the table and the JSON of a
// suite.
package reports
