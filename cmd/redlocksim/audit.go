package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/shell"
	"redlocksim/internal/strictyaml"
	"redlocksim/internal/wordwrap"
	"redlocksim/reports"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/audit"
)

const auditHelp = `Find out whether lock settings are safe. FILE says what you know of the lock and
its surroundings; the rest is taken for granted. Without FILE, audit asks you.

%s
FILE can have the keys of a settings file, too, such as lock: {ttl: 8s}.

For each assumption that the lock rests on, audit runs the worst schedule as you
have it, together with the lines before it that are SAFE, and looks for the
limit. A line is SAFE; UNSAFE, with the changes that were seen to mend it; or
NOT TESTED. --show N prints the run behind line N: with your answers, or just
beyond the limit if that is SAFE. The exit code is 0 then or, without a run, 6.

--suggest computes the smallest safe settings of this project's library instead,
prints them as YAML for a settings file and as options, and audits them.

`

// auditFlags are the flags of audit.
type auditFlags struct {
	json, html              string
	show                    int
	noCache, force, suggest bool

	to   sink
	lock lockFlags
}

func newAudit() *cobra.Command {
	a := &auditFlags{}
	cmd := &cobra.Command{
		Use:   "audit [FILE]",
		Short: "Find out whether your lock settings are safe",
		Long: fmt.Sprintf(auditHelp, answerList()) + exitcode.Help(exitcode.Specifics{
			exitOK: "every assumption holds", exitSafety: "an assumption does not hold", exitUsage: "with --suggest also if no settings are safe",
			exitNotTested: "an attack did not take place",
		}),
		Example: `  redlocksim audit
  redlocksim audit ours.yaml --show 5 --html power-loss.html
  redlocksim audit ours.yaml --json audit.json
  redlocksim audit known.yaml --suggest`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&a.show, "show", 0, "print the run that decides about line N")
	flags.BoolVar(&a.suggest, "suggest", false, "compute the smallest safe settings for what is known")
	flags.StringVar(&a.html, "html", "", "with --show: write its interactive timeline to this file instead")
	flags.StringVar(&a.json, "json", "", "write the audit as JSON to this file (- for stdout)")
	flags.BoolVar(&a.noCache, "no-cache", false, "compile lock programs anew, and cache nothing")
	addForce(flags, &a.force)
	return cmd
}

// answerList is the keys of a file, for help.
func answerList() string {
	var b strings.Builder
	for _, q := range audit.Questions() {
		what := fmt.Sprintf("%s (default %s)", q.Text, cmp.Or(q.Default, q.Without))
		b.WriteString(wordwrap.Help(fmt.Sprintf("  %-14s", q.Key+":"), "                 ", what))
	}
	return b.String()
}

func (a *auditFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case a.html != "" && a.show == 0:
		return &failure{exitUsage, errors.New("--html draws the run of a line: name it with --show")}
	case a.suggest && a.show > 0:
		return &failure{exitUsage, errors.New("--suggest and --show exclude each other")}
	case a.show > 0 && a.json != "":
		return &failure{exitUsage, errors.New("--show tells one run, and --json writes all lines: give one or the other")}
	}
	a.to = newSink(cmd, a.force, args...)
	if err := a.to.check(file("--json", a.json), file("--html", a.html)); err != nil {
		return err
	}
	name, answers, err := a.answers(cmd, args)
	if err != nil {
		return err
	}
	if a.suggest {
		return a.suggestion(cmd, name, answers)
	}
	o := audit.Options{Unmended: a.show > 0, Repeat: "redlocksim audit " + shell.Quote(name)}
	if audit.IsProgram(answers.Library) {
		a.lock.command, a.lock.noCache = answers.Library, a.noCache
		if err := a.lock.loadWasm(cmd); err != nil {
			return err
		}
		defer a.lock.close()
		if o.Foreign = a.lock.foreign(); a.lock.about.IsOneNode() {
			if err := answers.OnOneNode(); err != nil {
				return &failure{exitUsage, err}
			}
		}
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	found, err := audit.Of(ctx, answers, o)
	if err != nil {
		return auditError(ctx, name, err)
	}
	for i := range found.Assumptions {
		found.Assumptions[i].Repeat = fmt.Sprintf("%s --show %d", o.Repeat, i+1)
	}
	if a.show > 0 {
		if err := a.showRun(cmd, found, o); err != nil {
			return err
		}
		return endingAfter(exitOK, found.Err("", ""))
	}
	return a.write(cmd, found)
}

// suggestion computes settings, and writes them.
func (a *auditFlags) suggestion(cmd *cobra.Command, name string, answers *audit.Answers) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	found, err := audit.Suggest(ctx, answers)
	if err != nil {
		return auditError(ctx, name, err)
	}
	if a.json != "" {
		err = writeJSON(&a.to, found, a.json)
	}
	if err == nil && a.json != "-" {
		err = wrap(found.WriteText(fitted(cmd.OutOrStdout()), verdictPaint(cmd)))
	}
	return cmp.Or(err, endingAfter(found.Code(), found.Err("", "")))
}

// auditError is how an audit ends that finds nothing.
func auditError(ctx context.Context, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case errors.Is(err, audit.ErrInput):
		return &failure{exitUsage, fmt.Errorf("%s: %w", name, err)}
	}
	return wrap(err)
}

// verdictPaint colours verdicts.
func verdictPaint(cmd *cobra.Command) audit.Paint {
	look := lookOf(cmd.OutOrStdout())
	return func(v audit.Verdict, words string) string {
		return map[audit.Verdict]func(string) string{audit.Safe: look.Good, audit.Unsafe: look.Bad, audit.NotTested: look.Doubtful}[v](words)
	}
}

// answers reads the file, or asks.
func (a *auditFlags) answers(cmd *cobra.Command, args []string) (name string, answers *audit.Answers, err error) {
	var data []byte
	if len(args) > 0 {
		name = args[0]
		if data, err = strictyaml.ReadFile(name); err != nil {
			return name, nil, &failure{exitUsage, err}
		}
	} else {
		in, isFile := cmd.InOrStdin().(*os.File)
		if !isFile || !term.IsTerminal(int(in.Fd())) {
			return "", nil, &failure{exitUsage, errors.New("name a file with what you know, as ttl: 8s; on a terminal, audit asks without one")}
		}
		name = "ours.yaml"
		if data, err = ask(in, cmd.ErrOrStderr()); err != nil {
			return name, nil, err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "\nYour answers, to keep as %s:\n\n%s\n", name, data)
	}
	if answers, err = audit.Parse(name, data); err != nil {
		return name, nil, &failure{exitUsage, err}
	}
	return name, answers, nil
}

// tellWrong says what is wrong with an answer, without a line in a file that nobody wrote.
func tellWrong(out io.Writer, err error) {
	var all strictyaml.Errors
	errors.As(err, &all)
	for _, e := range all {
		e.Line = 0
		fmt.Fprintf(out, "  %v\n", e)
	}
}

// ask asks for the answers one by one, and again for one that makes no sense beside those before it. An empty line leaves one
// out.
func ask(in io.Reader, out io.Writer) ([]byte, error) {
	var file bytes.Buffer
	lines := bufio.NewScanner(in)
	for _, q := range audit.Questions() {
		for {
			fmt.Fprintf(out, "%s\n  such as %s; Enter: %s > ", q.Text, q.Example, cmp.Or(q.Default, q.Without))
			if !lines.Scan() {
				fmt.Fprintln(out)
				if err := lines.Err(); err != nil {
					return nil, wrap(err)
				}
				return nil, interrupted()
			}
			text := strings.TrimSpace(lines.Text())
			if text == "" {
				break
			}
			line := q.Key + ": " + q.Meant(text) + "\n"
			if _, err := audit.Parse("answer", append(file.Bytes(), line...)); err != nil {
				tellWrong(out, err)
				continue
			}
			file.WriteString(line)
			break
		}
	}
	return file.Bytes(), nil
}

// showRun tells, or draws, the run that decides about a line.
func (a *auditFlags) showRun(cmd *cobra.Command, found *audit.Audit, o audit.Options) error {
	if a.show > len(found.Assumptions) {
		return &failure{exitUsage, fmt.Errorf("--show %d: there are %d lines", a.show, len(found.Assumptions))}
	}
	x := &found.Assumptions[a.show-1]
	if x.Shown == nil {
		return cmp.Or(wrap(found.Err("", "")), error(&failure{exitNotTested, fmt.Errorf("--show %d: nothing was run: %s", a.show, x.Text)}))
	}
	r, err := verdict.Verify(x.Run(), scenarios.Options{Foreign: o.Foreign})
	if err != nil {
		return wrap(err)
	}
	if a.html != "" {
		t, err := (&judged{Result: r, repeat: x.Repeat}).drawn()
		if err != nil {
			return wrap(err)
		}
		t.IsTrial = true // nothing is expected of an attack
		var page bytes.Buffer
		if err := timeline.WriteHTML(&page, t); err != nil {
			return wrap(err)
		}
		return a.to.put(file("--html", a.html), page.Bytes())
	}
	return wrap(reports.Attack(fitted(cmd.OutOrStdout()), r, x.Repeat, x.Outcome()))
}

// write writes the audit.
func (a *auditFlags) write(cmd *cobra.Command, found *audit.Audit) error {
	if a.json != "" {
		if err := writeJSON(&a.to, found, a.json); err != nil {
			return err
		}
	}
	if a.json != "-" {
		if err := found.WriteText(cmd.OutOrStdout(), verdictPaint(cmd)); err != nil {
			return wrap(err)
		}
	}
	return endingAfter(found.Code(), found.Err("", ""))
}
