// Package hooks is what agents have in common whose hooks follow those that
// Claude Code began: the settings file that names them ("hooks": event, groups,
// commands) and what a hook prints. Umbra's hooks are merged into a settings file
// to the byte: what is the user's keeps its order and formatting, and what is
// taken out again leaves the file as it was. It knows no agent.
package hooks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// A Shape is what an agent's hooks are like.
type Shape struct {
	Agent  string   // the word after "umbra hook"
	Events []string // the events Umbra asks for
	// Matched are the tools that a group of an event is for, as the agent writes that, where
	// it does: "*" is all.
	Matched map[string]string
	Timeout int            // in the agent's unit; more than a hook ever takes by itself
	Others  map[string]int // the timeouts of events for which the agent allows less, or that take longer
	// Later are events that newer versions alone know: InstallAll asks for them, Install
	// does not.
	Later []string
	// Ends are what follows a hook's command in place of fallback, by event.
	Ends map[string]string
}

// fallback ends a hook's command: whatever becomes of umbra, the agent goes on.
const fallback = " || exit 0"

// Install adds Umbra's hooks to settings, after what is there, and gives hooks
// of another umbra this command. Settings that are nil are those of no file; an
// empty or blank one is found again by Uninstall.
func (s Shape) Install(settings []byte, hookCommand string) ([]byte, error) {
	return s.install(settings, hookCommand, s.Events)
}

// InstallAll is Install with the events that newer versions know, but for those that have
// hooks already: who has them wants theirs.
func (s Shape) InstallAll(settings []byte, hookCommand string) ([]byte, error) {
	events := slices.Clone(s.Events)
	for _, event := range s.Later {
		if !s.HasOthers(settings, event) {
			events = append(events, event)
		}
	}
	return s.install(settings, hookCommand, events)
}

func (s Shape) install(settings []byte, hookCommand string, events []string) ([]byte, error) {
	if !s.isOurs(hookCommand) {
		return nil, fmt.Errorf("%q does not run umbra hook %s", hookCommand, s.Agent)
	}
	out := settings
	switch {
	case settings == nil:
		out = []byte("{\n}\n")
	case len(bytes.TrimSpace(out)) == 0:
		out = append(bytes.Clone(settings), "{\n}"...) // nothing behind it: see blankAgain
	}
	out, err := s.setCommand(out, hookCommand)
	if err == nil {
		out, err = s.setMatchers(out)
	}
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		h, err := s.parse(out)
		if err != nil {
			return nil, err
		}
		if h.has(event) {
			continue
		}
		l := layoutOf(out, h.root)
		if len(bytes.TrimSpace(settings)) == 0 {
			l.unit = ownUnit
		}
		out = h.add(out, l, event, func(indent string, l layout) string {
			return s.renderGroup(event, s.commandFor(event, hookCommand), indent, l)
		})
	}
	return out, nil
}

// ownUnit is the indentation of a file that Umbra begins.
const ownUnit = "  "

// Uninstall takes Umbra's hooks out, and the containers that were made for
// them. A container is taken for one of those if it is left empty on two lines.
// remove reports that nothing is left and the file was Umbra's own to create.
func (s Shape) Uninstall(settings []byte) (out []byte, remove bool, err error) {
	out = settings
	if len(bytes.TrimSpace(out)) == 0 {
		return out, false, nil
	}
	for {
		h, err := s.parse(out)
		if err != nil {
			return nil, false, err
		}
		if len(h.found) == 0 {
			if remove {
				out, remove = blankAgain(out)
			}
			return out, remove, nil
		}
		own := layoutOf(out, h.root).unit == ownUnit
		out, remove = h.drop(out, h.found[0])
		remove = remove && own
	}
}

// blankAgain decides about a file that Umbra began and that has nothing of the
// user's in it: one that ends with its brace was there, blank, and is so again.
func blankAgain(out []byte) (blank []byte, remove bool) {
	if !bytes.HasSuffix(out, []byte("}")) {
		return out, true
	}
	return out[:bytes.IndexByte(out, '{')], false
}

// Commands returns Umbra's commands, one for each event that has one, and
// the events without.
func (s Shape) Commands(settings []byte) (commands, missing []string, err error) {
	var h hooks
	if len(bytes.TrimSpace(settings)) > 0 {
		if h, err = s.parse(settings); err != nil {
			return nil, nil, err
		}
	}
	for _, event := range s.Events {
		i := slices.IndexFunc(h.found, func(f found) bool { return f.event == event })
		if i < 0 {
			missing = append(missing, event)
			continue
		}
		commands = append(commands, h.found[i].command.string(settings))
	}
	return commands, missing, nil
}

// A Place is where a hook of Umbra's stands in a settings file: the group in the
// event's list, and the hook in the group's.
type Place struct {
	Event       string
	Group, Hook int
}

// Places are where Umbra's hooks stand; none in what is no settings file.
func (s Shape) Places(settings []byte) []Place {
	h, err := s.parse(settings)
	if err != nil {
		return nil
	}
	var places []Place
	for _, f := range h.found {
		places = append(places, Place{Event: f.event, Group: f.inEvent, Hook: f.inGroup})
	}
	return places
}

// hooks is the part of a settings file that matters here.
type hooks struct {
	root  node
	hooks node // zero if there is none
	found []found
}

// found is one hook of Umbra's: where it is and the containers around it.
type found struct {
	event                string
	inRoot, inHooks      int // indices of the containers' items
	inEvent, inGroup     int
	group, list, command node
}

// parse finds Umbra's hooks. Hooks of another shape than this are
// an error: nothing is known of what they mean.
func (s Shape) parse(b []byte) (hooks, error) {
	root, err := parseObject(b)
	if err != nil {
		return hooks{}, err
	}
	h := hooks{root: root}
	var ok bool
	if h.hooks, ok = root.get("hooks"); !ok {
		return h, nil
	}
	if !h.hooks.is(b, '{') {
		return h, errors.New(`settings: "hooks" is not an object`)
	}
	inRoot := slices.IndexFunc(root.items, func(it item) bool { return it.value.start == h.hooks.start })
	for i, event := range h.hooks.items {
		if !event.value.is(b, '[') {
			return h, fmt.Errorf("settings: hooks of %q are not a list", event.key)
		}
		for j, group := range event.value.items {
			if !group.value.is(b, '{') {
				continue
			}
			list, ok := group.value.get("hooks")
			if !ok || !list.is(b, '[') {
				continue
			}
			for k, hook := range list.items {
				if !hook.value.is(b, '{') {
					continue
				}
				if command, ok := hook.value.get("command"); ok && s.isOurs(command.string(b)) {
					h.found = append(h.found, found{event: event.key, inRoot: inRoot, inHooks: i, inEvent: j, inGroup: k, group: group.value, list: list, command: command})
				}
			}
		}
	}
	return h, nil
}

func (h hooks) has(event string) bool {
	return slices.ContainsFunc(h.found, func(f found) bool { return f.event == event })
}

// add puts a hook for event where it belongs.
func (h hooks) add(b []byte, l layout, event string, group func(indent string, l layout) string) []byte {
	list := func(indent string, l layout) string {
		return quoted(event) + l.colon() + l.wrap('[', ']', indent, group)
	}
	if h.hooks.end == 0 {
		return insertLast(b, h.root, l, func(indent string, l layout) string {
			return quoted("hooks") + l.colon() + l.wrap('{', '}', indent, list)
		})
	}
	if at, ok := h.hooks.get(event); ok {
		return insertLast(b, at, l, group)
	}
	return insertLast(b, h.hooks, l, list)
}

func quoted(s string) string { return string(jsontext.Quote(s)) }

func (l layout) colon() string {
	if l.newline == "" {
		return ":"
	}
	return ": "
}

// wrap renders a container of one item. On one line it has a space inside, so
// that left empty it is told from a user's.
func (l layout) wrap(left, right byte, indent string, inner func(string, layout) string) string {
	if l.newline == "" {
		return string(left) + inner("", l) + " " + string(right)
	}
	deeper := indent + l.unit
	return string(left) + l.newline + deeper + inner(deeper, l) + l.newline + indent + string(right)
}

func (s Shape) renderGroup(event, command, indent string, l layout) string {
	members := []string{
		`"type"` + l.colon() + `"command"`,
		`"command"` + l.colon() + quoted(command),
		fmt.Sprintf(`"timeout"%s%d`, l.colon(), cmp.Or(s.Others[event], s.Timeout)),
	}
	hook := func(indent string, l layout) string { return l.object(indent, members) }
	group := []string{}
	if tools := s.Matched[event]; tools != "" {
		group = append(group, `"matcher"`+l.colon()+quoted(tools))
	}
	return l.object(indent, append(group, `"hooks"`+l.colon()+l.wrap('[', ']', indent+l.unit, hook)))
}

func (l layout) object(indent string, members []string) string {
	if l.newline == "" {
		return "{" + strings.Join(members, ",") + "}"
	}
	deeper := l.newline + indent + l.unit
	return "{" + deeper + strings.Join(members, ","+deeper) + l.newline + indent + "}"
}

// drop takes one hook out, with each container that it leaves empty and that
// was made for it. gone reports that the whole file was.
func (h hooks) drop(b []byte, f found) (out []byte, gone bool) {
	if len(f.list.items) > 1 {
		return removeItem(b, f.list, f.inGroup), false
	}
	event := h.hooks.items[f.inHooks].value
	out = removeItem(b, event, f.inEvent)
	if !madeEmpty(b, out, event) {
		return out, false
	}
	out = removeItem(b, h.hooks, f.inHooks)
	if !madeEmpty(b, out, h.hooks) {
		return out, false
	}
	out = removeItem(b, h.root, f.inRoot)
	return out, madeEmpty(b, out, h.root)
}

// madeEmpty reports whether the container n of before, whose item is gone in
// after, is empty now and written as wrap writes it.
func madeEmpty(before, after []byte, n node) bool {
	inside := after[n.start+1 : n.end-1-(len(before)-len(after))]
	s := string(inside)
	return s == " " || strings.HasPrefix(strings.TrimPrefix(s, "\r"), "\n") && strings.TrimSpace(s) == ""
}

// setCommand gives each of Umbra's hooks the command.
func (s Shape) setCommand(b []byte, command string) ([]byte, error) {
	h, err := s.parse(b)
	if err != nil {
		return nil, err
	}
	for i := len(h.found) - 1; i >= 0; i-- {
		at, want := h.found[i].command, s.commandFor(h.found[i].event, command)
		if at.string(b) != want {
			b = splice(b, at.start, at.end, quoted(want))
		}
	}
	return b, nil
}

// everyTool is what a group is for that an earlier Umbra has made.
const everyTool = "*"

// setMatchers gives the groups that an earlier Umbra has made the tools that they are for now.
func (s Shape) setMatchers(b []byte) ([]byte, error) {
	h, err := s.parse(b)
	if err != nil {
		return nil, err
	}
	for i := len(h.found) - 1; i >= 0; i-- {
		f := h.found[i]
		tools, ok := f.group.get("matcher")
		if want := s.Matched[f.event]; ok && want != "" && len(f.list.items) == 1 && tools.string(b) == everyTool {
			b = splice(b, tools.start, tools.end, quoted(want))
		}
	}
	return b, nil
}

// HasOthers reports whether settings have hooks for an event that are not Umbra's.
func (s Shape) HasOthers(settings []byte, event string) bool {
	if len(bytes.TrimSpace(settings)) == 0 {
		return false
	}
	h, err := s.parse(settings)
	if err != nil {
		return false // the agent reads nothing of it either
	}
	groups, _ := h.hooks.get(event)
	hooks := 0
	for _, group := range groups.items {
		list, _ := group.value.get("hooks")
		hooks += len(list.items)
	}
	for _, f := range h.found {
		if f.event == event {
			hooks--
		}
	}
	return hooks > 0
}

// commandFor is the command of an event's hook.
func (s Shape) commandFor(event, command string) string {
	end, other := s.Ends[event]
	if !other {
		return command
	}
	return strings.TrimSuffix(command, fallback) + end
}

// isOurs reports whether a hook's command is Umbra's: one shell word that ends
// in umbra, the words hook and the agent's, and perhaps || exit 0 (earlier: exit 1), or
// what an event has in its place.
func (s Shape) isOurs(command string) bool {
	for _, end := range s.Ends {
		command = strings.TrimSuffix(command, end)
	}
	word, rest, ok := shellWord(strings.TrimSpace(command))
	if !ok || sessions.Program(word) != "umbra" {
		return false
	}
	words := strings.Join(strings.Fields(rest), " ")
	words = strings.TrimSuffix(strings.TrimSuffix(words, " || exit 0"), " || exit 1")
	return words == "hook "+s.Agent
}

// Program is the program that a hook's command line runs, as it names it; "" if that is more
// than plain and quoted text.
func Program(command string) string {
	word, _, _ := shellWord(strings.TrimSpace(command))
	return word
}

// shellWord reads the first word of a command line; false if it is more than
// plain and quoted text.
func shellWord(s string) (word, rest string, ok bool) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t':
			return out.String(), s[i:], true
		case '\'', '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return "", "", false
			}
			out.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			out.WriteByte(s[i])
		case ';', '&', '|', '<', '>', '(', ')', '`', '\n':
			return "", "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), "", true
}
