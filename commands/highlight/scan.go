package highlight

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"
)

// A language scans source by chroma's rules for it, and with the same outcome. It
// does so itself since chroma tries each rule of a state at each place, most of
// them in vain: here a rule is asked only where its first character is, and made
// ready only when its state is first come to.
type language struct {
	lexer    *chroma.RegexLexer // what rules ask that scan a part of the text anew
	registry *chroma.LexerRegistry
	flags    string
	rules    chroma.CompiledRules

	mu     sync.Mutex
	states map[string][]*rule
}

// rule is one of a state's.
type rule struct {
	*chroma.CompiledRule
	number int
	starts *syntax.Prefix // what it may begin with, nil for anything
}

// newLanguage makes a language of chroma's XML.
func newLanguage(text []byte, registry *chroma.LexerRegistry, name string) (*language, error) {
	var read struct {
		Config chroma.Config `xml:"config"`
		Rules  chroma.Rules  `xml:"rules"`
	}
	if err := xml.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	lexer, ok := registry.Get(name).(*chroma.RegexLexer)
	if !ok {
		return nil, errors.New("it defines another language")
	}
	l := &language{lexer: lexer, registry: registry, flags: flagsOf(read.Config), rules: chroma.CompiledRules{}, states: map[string][]*rule{}}
	for state, rules := range read.Rules {
		for _, r := range rules {
			l.rules[state] = append(l.rules[state], &chroma.CompiledRule{Rule: r})
		}
	}
	return l, l.include()
}

func flagsOf(c chroma.Config) string {
	flags := ""
	if !c.NotMultiline {
		flags += "m"
	}
	if c.CaseInsensitive {
		flags += "i"
	}
	if c.DotAll {
		flags += "s"
	}
	return flags
}

// include puts rules in place of those that stand for others.
func (l *language) include() error {
	for again := true; again; {
		again = false
		for state := range l.rules {
			for i, r := range l.rules[state] {
				m, ok := r.Mutator.(chroma.LexerMutator)
				if !ok {
					continue
				}
				if err := m.MutateLexer(l.rules, state, i); err != nil {
					return err
				}
				again = true
				break
			}
		}
	}
	return nil
}

// state makes the rules of a state ready.
func (l *language) state(name string) ([]*rule, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rules, ok := l.states[name]; ok {
		return rules, nil
	}
	listed, ok := l.rules[name]
	if !ok {
		return nil, fmt.Errorf("there is no state %q", name)
	}
	var rules []*rule
	for i, c := range listed {
		pattern := "(?:" + c.Pattern + ")"
		if l.flags != "" {
			pattern = "(?" + l.flags + ")" + pattern
		}
		re, err := regexp2.Compile(`\G` + pattern)
		if err != nil {
			return nil, err
		}
		re.MatchTimeout = longest
		own := *c
		own.Regexp = re
		r := &rule{CompiledRule: &own, number: i}
		if tree, err := syntax.Parse(pattern, syntax.ParseOptions{}); err == nil {
			if code, err := syntax.Write(tree); err == nil {
				r.starts = code.FcPrefix
			}
		}
		rules = append(rules, r)
	}
	l.states[name] = rules
	return rules, nil
}

// longest is how long one rule is tried at one place, and a text is scanned: what
// takes longer is not painted from there. No source comes near it.
var longest = 2 * time.Second

// scan gives the pieces of a text, in order and without a gap, up to its end or to
// what the rules can't go on with.
func (l *language) scan(text string, piece func(chroma.TokenType, string)) {
	defer func() { _ = recover() }() // rules that do not fit the text are told in panics
	left := text
	give := func(kind chroma.TokenType, value string) bool {
		if value == "" {
			return true
		}
		if !strings.HasPrefix(left, value) {
			return false
		}
		left = left[len(value):]
		piece(kind, value)
		return true
	}
	s := &chroma.LexerState{
		Lexer: l.lexer, Registry: l.registry, Text: []rune(text), Rules: l.rules, Stack: []string{"root"}, MutatorContext: map[any]any{},
	}
	end := time.Now().Add(longest)
	for n := 1; s.Pos < len(s.Text) && len(s.Stack) > 0; n++ {
		if n%1024 == 0 && time.Now().After(end) || !l.step(s, give) {
			return
		}
	}
}

// step takes the next piece, and reports whether to go on.
func (l *language) step(s *chroma.LexerState, give func(chroma.TokenType, string) bool) bool {
	s.State = s.Stack[len(s.Stack)-1]
	rules, err := l.state(s.State)
	if err != nil {
		return false
	}
	r, m, err := match(rules, s.Text, s.Pos)
	if err != nil {
		return false
	}
	if r == nil {
		if s.Text[s.Pos] == '\n' && s.State != "root" { // as Pygments does: a line's end ends what was not closed
			s.Stack = []string{"root"}
			return true
		}
		s.Pos++
		return give(chroma.Error, string(s.Text[s.Pos-1]))
	}
	whole := m.String()
	s.Rule, s.Groups = r.number, []string{whole}
	kind, simple := r.Type.(chroma.TokenType)
	if !simple && r.Type != nil {
		s.Groups = s.Groups[:0]
		for _, g := range m.Groups() {
			s.Groups = append(s.Groups, g.String())
		}
	}
	s.Pos += utf8.RuneCountInString(whole)
	if r.Mutator != nil && r.Mutator.Mutate(s) != nil {
		return false
	}
	switch {
	case simple:
		return give(kind, whole)
	case r.Type != nil:
		for next := r.Type.Emit(s.Groups, s); ; {
			t := next()
			if t == chroma.EOF {
				break
			}
			if t.Type != chroma.Ignore && !give(t.Type, t.Value) {
				return false
			}
		}
	}
	return true
}

// match is the first rule that holds at a place. The error is that one took too long.
func match(rules []*rule, text []rune, at int) (*rule, *regexp2.Match, error) {
	for _, r := range rules {
		if !r.mayBegin(text[at]) {
			continue
		}
		m, err := r.Regexp.FindRunesMatchStartingAt(text, at)
		if err != nil {
			return nil, nil, err
		}
		if m != nil && m.RuneIndex == at {
			return r, m, nil
		}
	}
	return nil, nil, nil
}

func (r *rule) mayBegin(c rune) bool {
	if r.starts == nil || r.starts.PrefixSet.CharIn(c) {
		return true
	}
	return r.starts.CaseInsensitive && (r.starts.PrefixSet.CharIn(unicode.ToLower(c)) || r.starts.PrefixSet.CharIn(unicode.ToUpper(c)))
}
