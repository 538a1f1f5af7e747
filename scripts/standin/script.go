package standin

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Step is one answer of the model: its text first, then its calls.
type Step struct {
	Sleep    time.Duration // before the answer
	Wait     string        // before the answer, until Server.Release of that name
	Thinking string
	Text     string
	Calls    []Call
	Fail     int    // an HTTP status instead of an answer
	Error    string // its message
}

// A Call is a tool call: of a script, with the tool's kind and the fields that
// were given; of a conversation, with the tool's name and its input.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// The kinds of tool that a script names without knowing the client: how their
// fields are called is looked up in what the client offers.
const (
	kindWrite = "write"
	kindEdit  = "edit"
	kindRead  = "read"
	kindBash  = "bash"
)

// Script reads the directives of a prompt; text around them is ignored.
//
//	[[write path=a.txt content="two\nlines"]]   the client's tool to write a file
//	[[edit path=a.txt old=two new=2]]           … to edit one (it wants a read before)
//	[[read path=a.txt]]                         … to read one
//	[[bash cmd="go test ./..."]]                … to run a command
//	[[tool name=Task input="{\"prompt\":\"x\"}"]]  any tool, by its own name
//	[[parallel]]     the next call belongs to the same answer as the one before
//	[[say text]]     text; with no call after it, it ends the turn
//	[[think text]]   a signed thinking block
//	[[sleep 2s]]     before the answer that comes next
//	[[wait name]]    … until the test calls Release(name)
//	[[fail 400 text]]  an API error instead of the answer
//
// Values are bare words, Go strings or raw Go strings. Each call is an answer of
// its own; the step whose turn it is follows from the number of tool results
// since the prompt. A script that ends with a call is followed by the text
// "done", a prompt without directives is answered "ok".
func Script(prompt string) ([]Step, error) {
	script := &scripted{}
	for rest := prompt; ; {
		at := strings.Index(rest, "[[")
		if at < 0 {
			break
		}
		words, after, err := directive(rest[at+2:])
		if err != nil {
			return nil, err
		}
		if err := script.add(words); err != nil {
			return nil, fmt.Errorf("[[%s]]: %w", strings.Join(words, " "), err)
		}
		rest = after
	}
	return script.end(), nil
}

type scripted struct {
	steps    []Step
	now      Step
	begun    bool
	parallel bool
}

func (s *scripted) add(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("empty")
	}
	verb, text := words[0], strings.Join(words[1:], " ")
	if verb == "parallel" {
		s.parallel = true
		return nil
	}
	if len(s.now.Calls) > 0 && !s.parallel {
		s.next()
	}
	s.begun, s.parallel = true, false
	var err error
	switch verb {
	case "say":
		s.now.Text = strings.TrimPrefix(s.now.Text+"\n"+text, "\n")
	case "think":
		s.now.Thinking = text
	case "sleep":
		s.now.Sleep, err = time.ParseDuration(text)
	case "wait":
		s.now.Wait = text
	case "fail":
		s.now.Error = strings.Join(words[min(2, len(words)):], " ")
		s.now.Fail, err = strconv.Atoi(words[min(1, len(words)-1)])
		if err == nil && http.StatusText(s.now.Fail) == "" && s.now.Fail != 529 {
			err = fmt.Errorf("no HTTP status")
		}
	case "tool", kindWrite, kindEdit, kindRead, kindBash:
		err = s.call(verb, words[1:])
	default:
		err = fmt.Errorf("unknown directive")
	}
	return err
}

func (s *scripted) call(kind string, words []string) error {
	fields := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q is not name=value", word)
		}
		fields[name] = value
	}
	if kind == "tool" {
		input := json.RawMessage(fields["input"])
		if !json.Valid(input) || fields["name"] == "" {
			return fmt.Errorf("want name=TOOL input=JSON")
		}
		s.now.Calls = append(s.now.Calls, Call{Name: fields["name"], Input: input})
		return nil
	}
	input, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	s.now.Calls = append(s.now.Calls, Call{Name: kind, Input: input})
	return nil
}

func (s *scripted) next() {
	s.steps = append(s.steps, s.now)
	s.now, s.begun = Step{}, false
}

func (s *scripted) end() []Step {
	switch {
	case len(s.now.Calls) > 0:
		s.next()
		s.now.Text = "done"
	case !s.begun:
		s.now.Text = "ok"
	case s.now.Text == "":
		s.now.Text = "done"
	}
	return append(s.steps, s.now)
}

// directive splits what follows "[[" into its words, up to "]]" outside a
// quoted string, and returns the text after that.
func directive(text string) (words []string, rest string, err error) {
	word := ""
	flush := func() {
		if word != "" {
			words = append(words, word)
			word = ""
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "]]"):
			flush()
			return words, text[i+2:], nil
		case strings.HasSuffix(word, "=") && (text[i] == '"' || text[i] == '`'):
			quoted, err := strconv.QuotedPrefix(text[i:])
			if err != nil {
				return nil, "", fmt.Errorf("a quote does not end: %s", text[i:])
			}
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, "", fmt.Errorf("read %s: %w", quoted, err)
			}
			words = append(words, word+value)
			word = ""
			i += len(quoted)
		case text[i] == ' ' || text[i] == '\n' || text[i] == '\t':
			flush()
			i++
		default:
			word += text[i : i+1]
			i++
		}
	}
	return nil, "", fmt.Errorf("[[%s: no ]] at its end", text)
}

// at is the step that is due after that many tool results; the last one ends
// the turn.
func at(steps []Step, results int) Step {
	for _, step := range steps {
		if results < len(step.Calls) || len(step.Calls) == 0 {
			return step
		}
		results -= len(step.Calls)
	}
	return steps[len(steps)-1]
}

// scriptedStep is the step that a conversation has come to, its calls bound to
// the tools that the client offers, with new ids of that prefix.
func scriptedStep(history []Message, tools []tool, prefix string) Step {
	prompt, results := pending(history)
	steps, err := Script(prompt)
	if err != nil {
		return wrong(err)
	}
	step := at(steps, results)
	calls := make([]Call, len(step.Calls))
	for i, call := range step.Calls {
		if calls[i], err = bind(call, tools); err != nil {
			return wrong(err)
		}
		calls[i].ID = prefix + rand.Text()
	}
	step.Calls = calls
	return step
}

// wrong lets the conversation itself say what is wrong with its script.
func wrong(err error) Step { return Step{Text: fmt.Sprintf("stand-in: %v", err)} }
