package jsontext

import "testing"

// TestRedactSaid: what a person calls a password, or types of a command with one, is left
// out of what is kept of a prompt.
func TestRedactSaid(t *testing.T) {
	t.Parallel()
	const drawn = "S3kr8xyzQWERTYuiop42"
	for text, want := range map[string]string{
		"the password is hunter2, log in":                    "the password is " + leftOut + ", log in",
		"password: hunter2":                                  "password: " + leftOut,
		"password = 'hunter2'":                               "password = '" + leftOut + "'",
		"use password=hunter2 there":                         "use password=" + leftOut + " there",
		"(pw: hunter2)":                                      "(pw: " + leftOut + ")",
		"Passwort: hunter2\nand go":                          "Passwort: " + leftOut + "\nand go",
		"change the password to `" + drawn + "`.":            "change the password to `" + leftOut + "`.",
		"log in as bob with password " + drawn:               "log in as bob with password " + leftOut,
		"my API key is " + drawn + ", use it":                "my API key is " + leftOut + ", use it",
		"take this token: " + drawn:                          "take this token: [umbra-left-out:secret]",
		"here is the token " + drawn + ".":                   "here is the token " + leftOut + ".",
		"run DB_PASSWORD=hunter2 make":                       "run DB_PASSWORD=" + leftOut + " make",
		"run DB_PASS='pa5' make":                             "run DB_PASS='" + leftOut + "' make",
		"try mysql -uroot -phunter2 db":                      "try mysql -uroot -p" + leftOut + " db",
		"don't use sshpass -p hunter2 ssh h, it's bad":       "don't use sshpass -p " + leftOut + " ssh h, it's bad",
		"`redis-cli -a hunter2`":                             "`redis-cli -a " + leftOut + "`",
		"call curl -u bob:hunter2 https://h":                 "call curl -u bob:" + leftOut + " https://h",
		"do docker login -u me -p hunter2":                   "do docker login -u me -p " + leftOut,
		"npm config set //r.org/:_authToken " + drawn:        "npm config set //r.org/:_authToken " + leftOut,
		`curl -H "Cookie: sid=` + drawn + `; a=b"`:           `curl -H "Cookie: sid=` + leftOut + `; a=b"`,
		"echo hunter2 | docker login -u me --password-stdin": "echo " + leftOut + " | docker login -u me --password-stdin",
		`so printf '%s' "hunter2" | sudo -S ls | wc`:         `so printf '%s' "` + leftOut + `" | sudo -S ls | wc`,
		"cd x; echo 'me:hunter2' | sudo chpasswd":            "cd x; echo 'me:" + leftOut + "' | sudo chpasswd",
		"curl -d 'user=me&password=sesame' h":                "curl -d 'user=me&password=" + leftOut + "' h",
		"open https://h/x?password=sesame&a=b now":           "open https://h/x?password=" + leftOut + "&a=b now",
		"ssh-keygen -N hunter2 -f k":                         "ssh-keygen -N " + leftOut + " -f k",
		"git clone https://me:hunter2@h/x with curl -u a:b1": "git clone https://me:[umbra-left-out:password]@h/x with curl -u a:" + leftOut,
		"sshpass -p 'correct horse battery' ssh h":           "sshpass -p '" + leftOut + "' ssh h",
		`sshpass -p pass\ wort ssh h`:                        "sshpass -p " + leftOut + " ssh h",
		"try mysql -p'my pass word1' db":                     "try mysql -p'" + leftOut + "' db",
		"ADMIN_PASSWORD='correct horse battery' make":        "ADMIN_PASSWORD='" + leftOut + "' make",
		`(ADMIN_PASSWORD="it's mine")`:                       `(ADMIN_PASSWORD="` + leftOut + `")`,
		"the password is 'hunter2 zoo', go":                  "the password is '" + leftOut + "', go",
		"ADMIN_PASSWORD='a and don't forget":                 "ADMIN_PASSWORD='" + leftOut + " and don't forget",
		"DB_PASSWORD=p&ssw0rd":                               "DB_PASSWORD=" + leftOut,
		"PGPASSWORD=hunter2&& psql":                          "PGPASSWORD=" + leftOut + "&& psql",
		"pw:ab&c1d2e3":                                       "pw:" + leftOut,
		"password=Tr0ub&dor3x":                               "password=" + leftOut,
		"open /x?password=sesame&flag&a=b":                   "open /x?password=" + leftOut + "&a=b",
		"curl -d 'a=b&password=p&ss' h":                      "curl -d 'a=b&password=" + leftOut + "' h",
		"echo 'a;b1c2|d' | docker login --password-stdin":    "echo '" + leftOut + "' | docker login --password-stdin",
		`echo "pa&ss1" | sudo -S ls`:                         `echo "` + leftOut + `" | sudo -S ls`,
		"I don't: echo -n hunter2 | tr a b | sudo -S ls":     "I don't: echo -n " + leftOut + " | tr a b | sudo -S ls",
		"/bin/echo a$b1 | gh auth login --with-token":        "/bin/echo " + leftOut + " | gh auth login --with-token",
		"echo a; echo 'it;s' | sudo -S ls; echo c":           "echo a; echo '" + leftOut + "' | sudo -S ls; echo c",
		"the echo command is echo hunter2 | sudo -S ls":      "the echo command is echo " + leftOut + " | sudo -S ls",
		"sh -c 'echo hunter2 | sudo -S ls'":                  "sh -c 'echo " + leftOut + " | sudo -S ls'",
		"use db_password: hunter2x in config.yml":            "use db_password: " + leftOut + " in config.yml",
		"connect with DB_PASSWORD: hunter2":                  "connect with DB_PASSWORD: " + leftOut,
		"the admin password for staging is hunter2":          "the admin password for staging is " + leftOut,
		"password of the new host: hunter2":                  "password of the new host: " + leftOut,
		"set password hunter2!":                              "set password " + leftOut + "!",
		"change the password to hunter2":                     "change the password to " + leftOut,
		`{"password": "hunter2"}`:                            `{"password": "` + leftOut + `"}`,
		`{"user":"me 2","password":"hunter2","a":"b"} "c d"`: `{"user":"me 2","password":"` + leftOut + `","a":"b"} "c d"`,
		"spring.datasource.password=hunter2":                 "spring.datasource.password=" + leftOut,
		"dbPassword=hunter2 userPass: hunter3":               "dbPassword=" + leftOut + " userPass: " + leftOut,
		"pass:hunter2":                                       "pass:" + leftOut,
		"pass: hunter2":                                      "pass: " + leftOut,
		"run it --password hunter2":                          "run it --password " + leftOut,
		"run it --db-password 'foo bar9 zoo'":                "run it --db-password '" + leftOut + "'",
	} {
		if got := RedactSaid(text); got != want {
			t.Errorf("%q became\n%q, not\n%q", text, got, want)
		}
		if again := RedactSaid(want); again != want {
			t.Errorf("%q is redacted again: %q", want, again)
		}
	}
	for _, text := range []string{
		"", " \t\n", "the password is wrong", "the password must have 12characters", "hash the password to sha256hex", "password: uint256 in the struct",
		"rename password to password2", "the password is in config1.yml", "password: $DB_PASSWORD1", "password: <your password1>", "func password(v1 string)",
		"the token is expired since 2026-11-29", "the key is src/a1/b2.go", "the key of commit 3f81b27c", "PASSWORD=$(cat f) make", "zip -r a.zip dir1", "http is not https2",
		"add a login page, then run make -p 4", "PASSWORD_MIN=12345678", "write docs/password.md: reset1 is explained there",
		"the cookie is set by login2", "a\r\n\r\nb\n\n  c", "key: value1", "what does mysql -p do?", "echo a | wc | sort", `echo "$PW" | docker login --password-stdin`, "cat f | gh auth login --with-token", "echo && x=1&y=2", "a | b | | c", "MAX_PASS=3", "MY_PWD=src", "N_PASS=10", "start http server -a localhost:8080", "an https server -a localhost:8080", "make all tests pass: config2 fails", "the --password option takes abc123x", "the password for bob2024 must be long", "a bypass: mode12x",
		`{"password":"string","id":"a1b2c3"}`, "set the password for the login, then see step12x", "dbPassword: uint256", "echo yes || sudo -S ls", "redis-cli ping && ssh -a host1x", "echo hello; sudo -S ls | wc", "a=b&c", "AT&T=x", "|", "echo |",
	} {
		if got := RedactSaid(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestRedactTyped: quotes of a command line are read before its words are taken for a
// person's, and what only those call a password is left out too.
func TestRedactTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mysql -p'my pass word1' db":                               "mysql -p" + leftOut + " db",
		`sshpass -p pass\ wort ssh h`:                              "sshpass -p " + leftOut + " ssh h",
		"mysql -p'a b' db && tool --password 'foo bar9 zoo'":       "mysql -p" + leftOut + " db && tool --password '" + leftOut + "'",
		`curl -d '{"password": "hun ter2"}' h`:                     `curl -d '{"password": "` + leftOut + `"}' h`,
		"cat <<E\nDB_PASSWORD='a b'\nthe password is hunter2\nE":   "cat <<E\nDB_PASSWORD=" + leftOut + "\nthe password is " + leftOut + "\nE",
		"echo hunter2 | docker login --password-stdin; sudo -S ls": "echo " + leftOut + " | docker login --password-stdin; sudo -S ls",
	} {
		if got := RedactTyped(text); got != want {
			t.Errorf("%q became\n%q, not\n%q", text, got, want)
		}
		if again := RedactTyped(want); again != want {
			t.Errorf("%q is redacted again: %q", want, again)
		}
	}
}

// TestOmitLikePasswords: what follows a password's name is in no name if it may be one.
func TestOmitLikePasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fix the password check hunter2! now": "fix the password check  now ",
		"update go1 of db_password:\nh2x":     "update go1 of db_password:  ",
		"use pw=a1 b":                         "use  b ",
	} {
		if got := OmitLikePasswords(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}

// TestRedactReported: of what an agent reports, only what is certain is left out.
func TestRedactReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"set PGPASSWORD='hun ter2' and DB_PASS=hunter2":   "set PGPASSWORD='" + leftOut + "' and DB_PASS=" + leftOut,
		"ran mysql -uroot -phunter2 db":                   "ran mysql -uroot -p" + leftOut + " db",
		"ran http -a me:hunter2 h and http GET h -a m:p1": "ran http -a me:" + leftOut + " h and http GET h -a m:" + leftOut,
		"ran it with --password hunter2":                  "ran it with --password " + leftOut,
		"it reads password=hunter2":                       "it reads password=" + leftOut,
		"echo hunter2 | sudo -S ls":                       "echo " + leftOut + " | sudo -S ls",
		"git clone https://me:hunter2@h/x":                "git clone https://me:[umbra-left-out:password]@h/x",
		"password: string1":                               "password: string1",
		"the password is hash2x, ssh-keygen -N takes it":  "the password is hash2x, ssh-keygen -N takes it",
		"start http server -a localhost:8080":             "start http server -a localhost:8080",
	} {
		if got := RedactReported(text); got != want {
			t.Errorf("%q became\n%q, not\n%q", text, got, want)
		}
	}
}
