// Package timeline draws a run: who believed in the lock when, on which nodes it was, which messages went between them,
// and what went wrong.
//
// [Of] makes a [Timeline] from a judged run, and three functions draw the same Timeline: [WriteHTML] a page to look
// around in, [WriteSVG] a picture for documents, [WriteThumbnail] a small image. Equal runs give equal bytes.
//
// All times are true time, in nanoseconds since the start of the run. Believed windows are those that the checker judges
// ([checker.Windows]); nothing here has a rule of its own for them. What the history leaves out (messages, keys, clocks)
// is read from the events of the run, which is made once more; a timeline of a run on tier live shows
// the windows, the effects and the faults only, and says so in its notes.
package timeline
