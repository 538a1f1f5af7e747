// Package complete answers a shell that asks what may come next on a command line, and prints
// what makes a shell ask.
package complete

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// completePatience is how long a person who has typed Tab is kept waiting for
// what the Service knows.
const completePatience = 2 * time.Second

type completeOptions struct {
	breaks, listing string
	width           int
}

// Command answers the scripts that umbra completion prints. The first
// line of its answer says how the shell is to go on: files and dirs add the
// shell's own, paths are values that are files, nospace puts no space behind a
// value. Then come the values, one a line, each with a tab and what it is.
func Command(all func() []*call.Verb) *call.Verb {
	var o completeOptions
	return &call.Verb{
		Name: "complete", Args: "bash|zsh|fish", Min: 1, Max: 1, After: "-- WORDS…", Hidden: true,
		Short: "complete a command line",
		Flags: []flags.Flag{
			flags.String("breaks", "bash's `COMP_WORDBREAKS`", &o.breaks),
			flags.String("listing", "bash's `COMP_TYPE`", &o.listing),
			flags.Int("width", "`COLUMNS` of the terminal", &o.width),
		},
		Run: func(c *call.Call) error { return runComplete(c, o, all()) },
	}
}

func runComplete(c *call.Call, o completeOptions, all []*call.Verb) error {
	ctx, cancel := context.WithTimeout(c.Context, completePatience)
	defer cancel()
	c.Context = ctx
	c.Silence()
	words := c.After
	if c.Arg(0) == "bash" && len(words) > 0 {
		words = shellWords(words[0])
	}
	if len(words) == 0 {
		words = []string{""}
	}
	t := readTyped(all, new(call.Globals).Flags(), words)
	if t.home != "" {
		c.Home = t.home
		if err := c.Settle(c.Env); err != nil {
			return err
		}
	}
	found := candidates(c, t)
	if c.Arg(0) == "bash" {
		found.forBash(t.prefix+t.word, o)
	}
	_, err := c.Stdout.Write(found.lines())
	return err
}

// typed is a command line that is not finished: what the last word may be.
type typed struct {
	all     []*call.Verb
	verbs   []*call.Verb // what may come, if the last word is the name of one
	verb    *call.Verb
	path    []string
	globals []flags.Flag
	args    []string
	flag    flags.Flag // the last word is its value
	after   int        // words that the verb keeps apart, behind `--` mostly; -1 before them
	lost    bool       // something before it makes no sense
	prefix  string     // what of the last word stays as it is: --flag=
	word    string
	home    string // --home
}

// readTyped reads words, of which the last is being typed.
func readTyped(verbs []*call.Verb, globals []flags.Flag, words []string) typed {
	t := typed{all: verbs, verbs: verbs, globals: globals, after: -1}
	dashed := false
	for _, w := range words[:len(words)-1] {
		switch {
		case t.flag != nil:
			t.value(t.flag, w)
			t.flag = nil
		case t.after >= 0:
			t.after++
		case w == "--" && !dashed:
			dashed = true
			if t.verb != nil && t.verb.After != "" {
				t.after = 0
			}
		case !dashed && len(w) > 1 && w[0] == '-':
			t.dash(w)
		default:
			t.take(w)
		}
	}
	t.word = words[len(words)-1]
	if name, value, ok := strings.Cut(t.word, "="); ok && !dashed && t.after < 0 && t.flag == nil && strings.HasPrefix(name, "--") {
		if f := t.find(strings.TrimLeft(name, "-")); f != nil && flags.TakesValue(f) {
			t.flag, t.prefix, t.word = f, name+"=", value
		}
	}
	if dashed && t.verb == nil {
		t.lost = true
	}
	return t
}

func (t *typed) dash(w string) {
	name, value, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
	f := t.find(name)
	switch {
	case f == nil || !flags.TakesValue(f):
	case valued:
		t.value(f, value)
	default:
		t.flag = f
	}
}

func (t *typed) value(f flags.Flag, value string) {
	if f.Names()[0] == "home" {
		t.home = value
	}
}

// take is pass.word where nothing has to be right.
func (t *typed) take(w string) {
	if t.verb == nil && w == "help" {
		return
	}
	if len(t.verbs) > 0 && len(t.args) == 0 {
		if v := call.Find(t.verbs, w); v != nil {
			t.verb, t.verbs, t.path = v, v.Verbs, append(t.path, v.Name)
			return
		}
		t.lost = t.lost || t.verb == nil || t.verb.Run == nil
	}
	if t.verb != nil && t.verb.Begins != nil && t.verb.Begins(w) {
		t.after = 1
		return
	}
	t.args = append(t.args, w)
}

func (t *typed) find(name string) flags.Flag {
	if f := flags.Find(t.globals, name); f != nil || t.verb == nil {
		return f
	}
	return flags.Find(t.verb.Flags, name)
}

// wants is the word of the synopsis that stands for what is being typed, such
// as MOMENT; "" if nothing may come.
func (t *typed) wants() string {
	if t.flag != nil {
		return flagWants(t.flag)
	}
	if t.after >= 0 {
		_, words, _ := strings.Cut(t.verb.After, " ")
		return nth(words, t.after)
	}
	if t.verb.Max >= 0 && len(t.args) >= t.verb.Max {
		return ""
	}
	return nth(t.verb.Args, len(t.args))
}

// flagWants is the word for a flag's value in its usage.
func flagWants(f flags.Flag) string {
	typed, _ := flags.Describe(f)
	_, value, _ := strings.Cut(typed[strings.LastIndex(typed, "-"):], " ")
	return value
}

// nth is the nth word of a synopsis, without what marks it.
func nth(synopsis string, n int) string {
	fields := strings.Fields(synopsis)
	if n >= len(fields) {
		if len(fields) == 0 || !strings.HasSuffix(strings.TrimRight(fields[len(fields)-1], "]"), "…") {
			return ""
		}
		n = len(fields) - 1
	}
	return strings.TrimSuffix(strings.Trim(fields[n], "[]"), "…")
}

// shellWords splits a line of bash up to the cursor into words as the shell
// would, without the command's own name and what was assigned before it.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	escaped := false
	end := func() {
		words = append(words, word.String())
		word.Reset()
	}
	inside := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inside = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inside {
				end()
			}
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	end()
	for len(words) > 1 && flags.Assignment(words[0]) {
		words = words[1:]
	}
	return words[1:]
}

// A candidate is a value and what it is.
type candidate struct{ value, text string }

// found is an answer to a shell.
type found struct {
	how  []string
	list []candidate
}

func (f *found) add(value, text string) { f.list = append(f.list, candidate{value, text}) }

// mostText is how many columns say what a value is.
const mostText = 60

// lines is the answer as the shells' scripts read it.
func (f *found) lines() []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	w.WriteString(strings.Join(f.how, " ") + "\n")
	for _, c := range f.list {
		if strings.ContainsAny(c.value, "\n\t") { // a line can't hold it
			continue
		}
		w.WriteString(c.value)
		if c.text != "" {
			w.WriteString("\t" + print.Cut(strings.Join(strings.Fields(print.Clean(c.text)), " "), mostText))
		}
		w.WriteByte('\n')
	}
	_ = w.Flush() // it goes to memory
	return b.Bytes()
}

// forBash makes the answer what bash can use: it replaces only what stands
// behind the last of its word breaks, and has no place for what a value is but
// in the value, which is well while several are listed.
func (f *found) forBash(word string, o completeOptions) {
	listing := o.listing != "37" && len(f.list) > 1 // 37: menu-complete inserts what it is given
	widest := 0
	for i, c := range f.list {
		f.list[i].value = c.value[min(broken(word, o.breaks), len(c.value)):]
		widest = max(widest, print.Columns(f.list[i].value))
	}
	for i, c := range f.list {
		if text := strings.Join(strings.Fields(print.Clean(c.text)), " "); listing && text != "" && o.width > widest+6 {
			c.value += strings.Repeat(" ", widest-print.Columns(c.value)) + "  (" + print.Cut(text, min(mostText, o.width-widest-5)) + ")"
		}
		f.list[i] = candidate{value: c.value}
	}
}

// broken is how much of a word stands before the part that bash replaces. An @
// begins that part, since bash takes it for the beginning of a host's name.
func broken(word, breaks string) int {
	for i := len(word) - 1; i >= 0; i-- {
		if c := word[i]; strings.IndexByte(breaks, c) >= 0 {
			if c == '@' {
				return i
			}
			return i + 1
		}
	}
	return 0
}

// candidates is what the last word may be.
func candidates(c *call.Call, t typed) found {
	var f found
	switch {
	case t.lost:
	case t.flag == nil && t.after < 0 && strings.HasPrefix(t.word, "-"):
		f.addFlags(t)
	case t.flag == nil && len(t.args) == 0 && len(t.verbs) > 0:
		f.addVerbs(t)
	case t.flag != nil || t.verb != nil:
		addWanted(c, &f, t, t.wants())
	}
	f.keep(t.word)
	for i := range f.list {
		f.list[i].value = t.prefix + f.list[i].value
	}
	return f
}

// keep leaves what begins with the word. Where that is one value that more can
// be added to, no space follows it.
func (f *found) keep(word string) {
	var kept []candidate
	for _, c := range f.list {
		if strings.HasPrefix(c.value, word) {
			kept = append(kept, c)
		}
	}
	f.list = kept
	if len(kept) == 1 && strings.HasSuffix(kept[0].value, "/") {
		f.how = append(f.how, "nospace")
	}
}

func (f *found) addFlags(t typed) {
	table := t.globals
	if t.verb != nil {
		table = append(t.verb.Flags[:len(t.verb.Flags):len(t.verb.Flags)], table...)
	}
	for _, fl := range table {
		_, meaning := flags.Describe(fl)
		for _, name := range fl.Names() {
			if len(name) > 1 || strings.HasPrefix("-"+name, t.word) && t.word != "-" {
				f.add(flags.Dashed(name), meaning)
			}
		}
	}
}

func (f *found) addVerbs(t typed) {
	for _, v := range t.verbs {
		if !v.Hidden {
			f.add(v.Name, v.Short)
		}
	}
	if t.verb == nil {
		f.add("help", "say what a command does and takes; help concepts: what the words mean")
	}
}

// serviceFor is the Service, for what it knows without making anything.
func serviceFor(c *call.Call) (missions.Service, missions.Caller, bool) {
	dir, err := c.HomeDir()
	if err != nil {
		return nil, missions.Caller{}, false
	}
	home, well := home.Find(dir)
	if !well {
		return nil, missions.Caller{}, false
	}
	c.NoDaemon, c.Reach = true, call.Alone // Tab starts no daemon, but asks one that is there
	if _, _, held := home.LockHolder(); held {
		c.Reach = call.Joining
	}
	svc, caller, _, err := c.Asking()
	return svc, caller, err == nil
}
