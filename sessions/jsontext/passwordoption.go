package jsontext

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// secretOption are the short options by which programs take a password. Which they are,
// and which letters take nothing, the programs' manuals say.
type secretOption struct {
	programs []string // by their names, and by their subcommands' where only those take one
	next     string   // the password is the next word, or joined to one of these letters
	joined   string   // it is only ever joined
	user     string   // it stands behind a user's name and a colon
	percent  string   // it stands behind a user's name and a percent sign
	cookie   string   // it stands behind a cookie's name
	source   string   // it stands behind this in any word
	named    bool     // it is the word behind a setting's name
	flags    string   // letters that take nothing: others may stand behind them in one word
}

var secretOptions = []secretOption{
	{programs: []string{"sshpass"}, next: "p", flags: "vh"},
	{programs: []string{"mongo", "mongosh", "mongodump", "mongorestore"}, next: "p"},
	{programs: []string{
		"docker login", "podman login", "buildah login", "skopeo login", "nerdctl login", "helm login", "oras login",
		"crane login", "cosign login", "regctl login", "oc login", "az login", "cf login", "ibmcloud login",
	}, next: "p"},
	{programs: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami"}, next: "w", flags: "xvnLcZA"},
	{programs: []string{"mysql", "mariadb", "mysqldump", "mariadb-dump", "mysqladmin", "mysqlimport"}, joined: "p", flags: "BNsvtfqrEH"},
	{programs: []string{"7z", "7za"}, joined: "p"},
	{programs: []string{"redis-cli"}, next: "a"},
	{programs: []string{"ssh-keygen"}, next: "NP"},
	{programs: []string{"sqlcmd", "bcp"}, next: "P"},
	{programs: []string{"zip", "unzip"}, next: "P", flags: "rqejmuyvTojln0123456789"},
	{programs: []string{"curl"}, user: "uU", cookie: "b", flags: "012346aBfgGiIjJklLMnNOpqRsSvVZ#"},
	{programs: []string{"http", "https", "xh", "xhs"}, user: "a", flags: "vhbjfdFI"},
	{programs: []string{"smbclient", "rpcclient", "smbget"}, percent: "U"},
	{programs: []string{"openssl"}, source: "pass:"},
	{programs: []string{"aws configure set", "npm config set", "pnpm config set", "yarn config set"}, named: true},
}

// longUserOptions take a user and a password.
var longUserOptions = []string{"--user", "--proxy-user", "--auth", "--creds"}

// wrappers run the program that they are given: programs, and words of the shell's own.
var wrappers = []string{
	"sudo", "doas", "env", "time", "exec", "nohup", "command", "builtin", "xargs", "nice", "ionice", "timeout", "watch", "setsid", "stdbuf",
	"if", "then", "elif", "else", "while", "until", "do", "!", "{",
}

// programNames are the programs of secretOptions, and the beginnings of what is a program and
// its subcommands there.
var programNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, o := range secretOptions {
		for _, program := range o.programs {
			for i, c := range program {
				if c == ' ' {
					names[program[:i]] = true
				}
			}
			names[program] = true
		}
	}
	return names
})

// takesPassword reports whether a program, or a subcommand of it, is in secretOptions.
func takesPassword(program string) bool { return programNames()[program] }

// hasOptions reports whether a program takes a password itself.
func hasOptions(program string) bool {
	return slices.ContainsFunc(secretOptions, func(o secretOption) bool { return slices.Contains(o.programs, program) })
}

// isAlsoAWord reports whether what is called as a program is an ordinary argument of others:
// docker login registry/npm.
func isAlsoAWord(program string) bool {
	isIt := func(name string) bool { return name == program || strings.HasPrefix(name, program+" ") }
	return slices.ContainsFunc(secretOptions, func(o secretOption) bool {
		return (o.percent+o.source != "" || o.named) && slices.ContainsFunc(o.programs, isIt)
	})
}

// nextProgram is the program whose options the words behind a word are. That may be one
// that another program starts: docker exec db mysql.
func nextProgram(program, before, word string) string {
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return program
	}
	name := path.Base(word)
	wraps := program == "" || slices.Contains(wrappers, program)
	mayBeValue := isOption(before) && before != "--" && !strings.Contains(before, "=")
	switch {
	case program == "sshpass" && before == "-p":
		return program
	case program == "sshpass", takesPassword(name) && (wraps || !mayBeValue && !(hasOptions(program) && isAlsoAWord(name))), wraps && !mayBeValue:
		return name
	case !mayBeValue && takesPassword(program) && takesPassword(program+" "+name):
		return program + " " + name
	}
	return program
}

// redactOwnOption redacts what an option that takes a password in this program, and
// seldom in another, is given.
func redactOwnOption(program, before, word string) string {
	if !takesPassword(program) {
		return word
	}
	for _, o := range secretOptions {
		if !slices.Contains(o.programs, program) {
			continue
		}
		option, value := splitShort(word, o.flags)
		last, none := splitShort(before, o.flags)
		switch {
		case value != "" && isOneOf(option, o.next+o.joined):
			return strings.TrimSuffix(word, value) + redactPassword(value)
		case value != "" && isOneOf(option, o.user):
			return strings.TrimSuffix(word, value) + redactUser(value)
		case none == "" && isOneOf(last, o.next):
			return redactPassword(word)
		case none == "" && isOneOf(last, o.user), slices.Contains(longUserOptions, before):
			return redactUser(word)
		case value != "" && isOneOf(option, o.percent+o.cookie):
			return strings.TrimSuffix(word, value) + o.redactBehind(value)
		case none == "" && isOneOf(last, o.percent+o.cookie), before == "--cookie" && o.cookie != "":
			return o.redactBehind(word)
		case o.source != "" && strings.HasPrefix(word, o.source):
			return o.source + redactPassword(word[len(o.source):])
		case o.named && !isOption(word) && isSecretName(settingPath(before)):
			return redactPassword(word)
		}
	}
	return word
}

// splitShort is a short option, behind others that take nothing, and what is joined to
// it; "" if the word is none.
func splitShort(word, flags string) (option, value string) {
	letters, ok := strings.CutPrefix(word, "-")
	if letters = strings.TrimLeft(letters, flags); !ok || letters == "" || letters[0] == '-' {
		return "", ""
	}
	return letters[:1], letters[1:]
}

func isOneOf(option, options string) bool { return option != "" && strings.Contains(options, option) }

func redactPassword(value string) string {
	if secrets.IsPlaceholder(value) || !isGiven(value) {
		return value
	}
	return leftOut
}

// redactBehind redacts what stands behind a user's name or a cookie's.
func (o secretOption) redactBehind(value string) string {
	separator := "="
	if o.percent != "" {
		separator = "%"
	}
	name, secret, ok := strings.Cut(value, separator)
	if !ok {
		return value
	}
	return name + separator + redactPassword(secret)
}

// redactUser redacts the password behind a user's name.
func redactUser(value string) string {
	user, password, ok := strings.Cut(value, ":")
	if !ok || user == "" && password == "" {
		return value
	}
	return user + ":" + redactPassword(password)
}
