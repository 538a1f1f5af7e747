package secrets

import (
	"bytes"
	b64 "encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// lot is a text drawn by lot, the same for each seed: no secret stands in this file.
func lot(seed uint64, n int, of *charset) string {
	source := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		if c := byte(source.Uint32()); of[c] && c < 0x80 {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var letters = chars("AZaz")

// secret is one of 40 letters and digits.
func secret(seed uint64) string { return lot(seed, 40, &alphanumeric) }

// TestTokens: what begins as an issuer's secrets do is left out, wherever it stands.
func TestTokens(t *testing.T) {
	for _, r := range tokenRules {
		n := max(r.least, min(r.least+8, 90))
		if r.most > 0 {
			n = r.most
		}
		token := r.begin + lot(7, n-1, r.of) + "5"
		missing := r.begin + "[umbra-left-out:" + r.kind + "]"
		if !r.keep {
			missing = "[umbra-left-out:" + r.kind + "]"
		}
		for _, around := range []string{"%s", "export X=%s\n", `{"x": ["%s", 1]}`, "use %s, or not", `a line\n%s\nanother`, "see `%s`.", "--flag=%s"} {
			in, want := fmt.Sprintf(around, token), fmt.Sprintf(around, missing)
			if got := string(Redact([]byte(in))); got != want {
				t.Errorf("%s: %s", in, got)
			}
		}
		for _, whole := range []string{r.begin, r.begin + strings.Repeat("x", n), "a" + token} {
			if got := Redact([]byte(whole)); r.begin[0] != 'h' && string(got) != whole && !r.plain {
				t.Errorf("%s: %s", whole, got)
			}
		}
	}
}

// TestFound: other secrets, each in its place, and the place stays.
func TestFound(t *testing.T) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + lot(1, 70, &base64) + "\n" + lot(2, 70, &base64) + "\n-----END OPENSSH PRIVATE KEY-----"
	pgp := "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + lot(1, 70, &base64) + "\n-----END PGP PRIVATE KEY BLOCK-----"
	jwt := "eyJ" + lot(1, 20, &alphanumeric) + ".eyJ" + lot(2, 60, &wordDash) + "." + lot(3, 43, &wordDash)
	for in, want := range map[string]string{
		"a\n" + key + "\nb": "a\n[umbra-left-out:private-key]\nb",
		pgp:                 "[umbra-left-out:private-key]",
		`{"k":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`:                         `{"k":"[umbra-left-out:private-key]"}`,
		"Cookie: s=" + jwt + ";":                                                      "Cookie: s=[umbra-left-out:json-web-token];",
		"git clone https://me:hunter2@host/x.git":                                     "git clone https://me:[umbra-left-out:password]@host/x.git",
		"git clone https://me:hu9Kx/4er2@host/x.git":                                  "git clone https://me:[umbra-left-out:password]@host/x.git",
		"postgres://app:" + secret(1) + "@db:5432/x":                                  "postgres://app:[umbra-left-out:password]@db:5432/x",
		"https://" + secret(1) + "@host/x":                                            "https://[umbra-left-out:secret]@host/x",
		"Authorization: Bearer " + secret(1):                                          "Authorization: Bearer [umbra-left-out:secret]",
		`-H "Authorization: token ` + secret(1) + `"`:                                 `-H "Authorization: token [umbra-left-out:secret]"`,
		`-H 'X-Api-Key: ` + secret(1) + `' https://x`:                                 `-H 'X-Api-Key: [umbra-left-out:secret]' https://x`,
		`{"args":["--api-key","` + secret(1) + `"]}`:                                  `{"args":["--api-key","[umbra-left-out:secret]"]}`,
		`{\"secret\": \"` + secret(1) + `\"}`:                                         `{\"secret\": \"[umbra-left-out:secret]\"}`,
		"serve --token " + secret(1) + " --port 80":                                   "serve --token [umbra-left-out:secret] --port 80",
		"curl -u me:s3cretPass9 https://x":                                            "curl -u me:[umbra-left-out:password] https://x",
		"Authorization: Basic bWU6aHVudGVyMg==":                                       "Authorization: Basic [umbra-left-out:secret]",
		`-H "authorization: basic bWU6aHVudGVy"`:                                      `-H "authorization: basic [umbra-left-out:secret]"`,
		"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY aws s3 ls":    "AWS_SECRET_ACCESS_KEY=[umbra-left-out:secret] aws s3 ls",
		"AWS_SECRET_ACCESS_KEY=" + lot(1, 30, &alphanumeric) + "EXAMPLEKEY aws s3 ls": "AWS_SECRET_ACCESS_KEY=[umbra-left-out:secret] aws s3 ls",
		"export API_KEY=1234567890123456\n":                                           "export API_KEY=[umbra-left-out:secret]\n",
		"export DB_PASSWORD=hunter2hunter\n":                                          "export DB_PASSWORD=[umbra-left-out:secret]\n",
		"set -gx MY_TOKEN " + secret(1) + "\n":                                        "set -gx MY_TOKEN [umbra-left-out:secret]\n",
		"https://x/?api_key=" + secret(1) + "&y=1":                                    "https://x/?api_key=[umbra-left-out:secret]&y=1",
		"client_secret = '" + lot(4, 20, &wordDash) + "!&'":                           "client_secret = '[umbra-left-out:secret]'",
		"**API key:** `" + lot(4, 32, &hex) + "`":                                     "**API key:** `[umbra-left-out:secret]`",
		"| token | " + secret(1) + " |":                                               "| token | [umbra-left-out:secret] |",
		"<password>" + secret(1) + "</password>":                                      "<password>[umbra-left-out:secret]</password>",
		"bot 12345678:AA" + lot(5, 33, &wordDash):                                     "bot [umbra-left-out:telegram-token]",
		"secret: " + secret(1) + ".":                                                  "secret: [umbra-left-out:secret].",
		"hf_" + lot(6, 34, &letters):                                                  "[umbra-left-out:hugging-face-token]",
		"export MY_TOKEN=" + lot(6, 40, &letters):                                     "export MY_TOKEN=[umbra-left-out:secret]",
		"api_key: 3f81b27c-9a4e-4d06-b5e1-c07a82d9f613":                               "api_key: [umbra-left-out:secret]",
	} {
		if got := string(Redact([]byte(in))); got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
	}
}

// TestNotFound: what only speaks of secrets stays.
func TestNotFound(t *testing.T) {
	for _, text := range []string{
		"", "[umbra-left-out:", "[umbra-left-out:]", "[umbra-left-out:password]", "password=[umbra-left-out:secret]",
		"export ANTHROPIC_API_KEY=sk-ant-your-key-here", "export ANTHROPIC_API_KEY=sk-ant-api03-your-key-goes-here", "sk-ant-...", "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic bGV0dGVycw==", "Authorization: Basic realm", "MAX_TOKEN=123456789", "API_KEY=0000000000000000", "GITHUB_TOKEN=$(gh auth token)",
		"TOKEN=${TOKEN}", "TOKEN=$TOKEN", "password: ********", "https://user:pass@host/", "https://user:${PASS}@host/", "https://user:%s@host/", "postgres://me@localhost/x",
		"the token is in the file, the key: press ctrl+k", "maxTokens: 4096", "key: sessions/claude/config.go", "token := strings.TrimPrefix(header)",
		"cache_key: " + lot(1, 40, &hex), "commit " + lot(1, 40, &hex), "id: 3f81b27c-9a4e-4d06-b5e1-c07a82d9f613", "key: 3f81b27c-9a4e-4d06-b5e1-c07a82d9f613", "key: /3f81b27c-9a4e-4d06-b5e1-c07a82d9f613",
		"Key=int32/Elem=int32a1b2c3", "key: GEMMA_4_31B_IT_MODEL", "private_key = v8::Private::ForApi(isolate, key)", "finalPwd = fs5.readFileSync(pwdFilePath)", "model_key: claude-sonnet-4-20250514", "API_KEY=your-key-123", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "API_KEY=the-key-of-2024-that-your-team-made", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----",
		"-----BEGIN PUBLIC KEY-----\n" + lot(1, 70, &base64) + "\n-----END PUBLIC KEY-----", "docker run -u 1000:1000 x", "ssh-ed25519 AAAA" + lot(1, 64, &base64) + " me@host",
		"token_file: /run/secrets/x1y2z3a4b5c6d7e8", "task-force-one-two-three-four-five", "risk-sk-management-of-all-the-things-we-do", "AKIAIOSFODNN7", "https://x/a:b@c",
		"http://localhost:3000/@me/x", "http://host:8080/a@v1", "https://host:PORT/path@v1", "http://%s:%d/x",
	} {
		if got := string(Redact([]byte(text))); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestOddBeginnings: a secret may begin as a path, a variable or a placeholder does.
func TestOddBeginnings(t *testing.T) {
	password := lot(3, 14, &alphanumeric) + "!7"
	for _, format := range []string{
		"export AWS_SECRET_ACCESS_KEY=%s\n", "aws_secret_access_key = %s\n", `{"secretAccessKey": "%s"}`, "DB_PASSWORD='%s'\n",
	} {
		for _, value := range []string{"/" + secret(1)[:39], "/" + secret(2)[:11] + "/" + secret(3)[:27], "//" + secret(4)[:38], "." + secret(5)[:39], "%" + secret(6)[:39]} {
			if got, want := string(Redact(fmt.Appendf(nil, format, value))), fmt.Sprintf(format, "[umbra-left-out:secret]"); got != want {
				t.Errorf("%s: %s", value, got)
			}
		}
	}
	for _, begin := range []string{"/", ".", "$", "$4", "%", "*", "<", "{"} {
		for _, format := range []string{"export DB_PASSWORD='%s'\n", "db_password: '%s'\n"} {
			if got, want := string(Redact(fmt.Appendf(nil, format, begin+password))), fmt.Sprintf(format, "[umbra-left-out:secret]"); got != want {
				t.Errorf("%s: %s", begin, got)
			}
		}
	}
	if got := string(Redact([]byte(`DB_PASSWORD="$4` + password + `"`))); got != `DB_PASSWORD="[umbra-left-out:secret]"` {
		t.Error("between double quotes:", got)
	}
	if got := string(Redact([]byte("https://me:%23" + password + "@host/x"))); got != "https://me:[umbra-left-out:password]@host/x" {
		t.Error("in an address:", got)
	}
}

// TestKeysOrPaths: of what is drawn in base64, whatever it begins with, next to nothing
// is taken for a path.
func TestKeysOrPaths(t *testing.T) {
	const n = 5000
	source := rand.NewChaCha8([32]byte{7})
	key := make([]byte, 64)
	for name, tt := range map[string]struct {
		begin byte // of the first byte
		most  int
	}{
		"any":                 {0, n / 500},
		"that begin as paths": {0xfc, n / 200}, // base64 has a slash for six bits that are set
	} {
		for _, format := range []string{"PRIVATE_KEY=%s\n", "API_TOKEN='%s'\n"} {
			missed := 0
			for i := range n {
				source.Read(key)
				key[0] |= tt.begin
				value := b64.StdEncoding.EncodeToString(key[:24+i%41])
				if text := fmt.Appendf(nil, format, value); bytes.Contains(Redact(text), []byte(value)) {
					missed++
				}
			}
			if missed > tt.most {
				t.Errorf("%q: of %d keys %s, %d are not found", format, n, name, missed)
			}
		}
	}
}

// TestOddNotFound: paths, variables and placeholders stay, whatever their names are.
func TestOddNotFound(t *testing.T) {
	name := lot(8, 32, &alphanumeric)
	for _, value := range []string{
		"/", "/home/me/.ssh/id_ed25519", "/run/secrets/db1", "/etc/ssl/private/host1.example.org.pem", "/nix/store/" + lot(8, 32, &alphanumeric) + "-secrets", "/tmp/tmp." + name[:10], "/tmp/" + name,
		"/var/folders/zx/" + name + "/T/x", "/Users/me/" + name, "/api/v1/tokens/" + name, "/v2/" + name, "/static/" + name + ".js", "/" + name + ".js", "/2024/05/" + name, "//host/" + name, "./" + name, "../" + name, ".ssh/id_ed25519",
		"$", "$TOKEN", "$MY_TOKEN_2", "${MY_TOKEN_2}", "$(pass show x1y2z3a4)", "$token", "$1", "%MY_TOKEN_2%", "%TOKEN%", "%(token1)s", "%{myToken12}", "%s", "%3Cyour1Key2here3%3E", "%C4%85%C5%9B%C4%87",
		"/c/Users/me/.ssh/id_ed25519", "/c/Users/me/Keys2/Server1", "/d/k8s/db1", "/mnt/c/Users/Jane1/myApp/key1", "/cygdrive/c/keys/x1y2z3a4", "/myApp/keys/db1", "/myApp/db1", "/DATA/keys/db1", "/DATA/db1", "/XMLParser4/key1", "/k8s/key1",
		"/opt/c++17/x1y2z3a4", "/usr/bin/x86_64-linux-gnu-g++-12", "/usr/share/zoneinfo/Etc/GMT+10", "C:/Users/me/keys/a1B2c3D4", "~/.ssh/id_ed25519", "~me/keys/a1B2c3D4", "@/run/secrets/db1", "@~/keys/a1B2c3D4", "keys/id_ed25519.pem", "secrets/myApp/key1", "projects/12345678/secrets/key1/versions/12",
		"/Applications/myApp2.app/Contents/a1B2c3D4", "/private/var/folders/zx/" + name + "/T/myApp1", "/Volumes/DATA2/a1B2c3D4", "%TMP%/a1B2c3D4/key", "%USERPROFILE%/.ssh/id_ed25519", "%ProgramFiles(x86)%/a1B2c3D4", "$HOME/.ssh/id_ed25519", "$HOME/a1B2c3D4", "$home/a1B2c3D4",
		"<your-key>", "<YOUR_KEY_1>", "<aB1cD2eF3>", "*", "**", "********", "****a1B2c3D4", "*.pem", "*/aB1cD2eF3", "{{template1aB2cD3}}", "{token}", "{env:MY_TOKEN_2}", "{{ .Values.a1B2c3D4 }}", "...",
	} {
		for _, format := range []string{"PRIVATE_KEY=%s\n", "PRIVATE_KEY='%s'\n", `PRIVATE_KEY="%s"`, "key: %s\n", `{"key": "%s"}`, `"token": '%s'`, "--token %s"} {
			if text := fmt.Sprintf(format, value); string(Redact([]byte(text))) != text {
				t.Errorf("%s: %s", text, Redact([]byte(text)))
			}
		}
	}
}

// TestRestore: what was left out comes back to its own place, and to no other.
func TestRestore(t *testing.T) {
	line := func(name string, seed uint64) string { return "export " + name + "=" + secret(seed) + "\n" }
	left := func(name string) string { return "export " + name + "=[umbra-left-out:secret]\n" }
	for name, tt := range map[string]struct {
		then, now, want string
		missing         int
	}{
		"nothing left out":    {"a\n", line("TOKEN", 1), "a\n", 0},
		"nothing changed":     {line("TOKEN", 1) + line("TOKEN", 2), line("TOKEN", 1) + line("TOKEN", 2), line("TOKEN", 1) + line("TOKEN", 2), 0},
		"another secret":      {line("TOKEN", 1), line("TOKEN", 2), line("TOKEN", 2), 0},
		"another text":        {"one\n\n" + line("TOKEN", 1) + "two\n", "zero\none\n" + line("TOKEN", 2), "one\n\n" + line("TOKEN", 2) + "two\n", 0},
		"gone":                {line("TOKEN", 1), "", left("TOKEN"), 1},
		"another place":       {"[a]\n" + line("TOKEN", 1), "[b]\n" + line("TOKEN", 2), "[a]\n" + left("TOKEN"), 1},
		"which of two":        {"a\n" + line("TOKEN", 1), "a\n" + line("TOKEN", 2) + "a\n" + line("TOKEN", 3), "a\n" + left("TOKEN"), 1},
		"one of two":          {"a\n" + line("TOKEN", 1) + "b\n" + line("TOKEN", 2), "b\n" + line("TOKEN", 3), "a\n" + left("TOKEN") + "b\n" + line("TOKEN", 3), 1},
		"no end of the line":  {"a\n" + line("TOKEN", 1) + "b", "a\n" + strings.TrimSpace(line("TOKEN", 2)), "a\n" + line("TOKEN", 2) + "b", 0},
		"two in a line":       {"x https://a:" + secret(1) + "@h --token " + secret(2) + "\ny", "x https://a:" + secret(3) + "@h --token " + secret(4), "x https://a:" + secret(3) + "@h --token " + secret(4) + "\ny", 0},
		"a placeholder there": {left("TOKEN"), left("TOKEN"), left("TOKEN"), 0},
	} {
		got, missing := Restore(Redact([]byte(tt.then)), []byte(tt.now))
		if string(got) != tt.want || missing != tt.missing {
			t.Errorf("%s: %d missing of %s", name, missing, got)
		}
	}
}

// TestLinear: no text takes more than its length's time.
func TestLinear(t *testing.T) {
	for _, piece := range []string{
		"a", "-", "sk-", "eyJ-", "eyJ.", "key=", "token:", `"key":"`, "-----BEGIN PRIVATE KEY-----", "://a:", "://a:b@", "AKIA", "glpat-.", "1:AA", "x-key-", "[umbra-left-out:", "\n", "\\\"",
		"TOKEN=a1b2c3d4e5f6g7h8 ", "-u a:",
	} {
		begun := time.Now()
		Redact(bytes.Repeat([]byte(piece), 1<<16/len(piece)))
		if took := time.Since(begun); took > patience.Of(time.Minute) {
			t.Errorf("64 KiB of %q take %s", piece, took)
		}
	}
}

// FuzzSecrets: whatever the text, it is redacted once for all and comes back whole.
func FuzzSecrets(f *testing.F) {
	for _, seed := range []string{
		"", "export TOKEN=" + secret(1) + "\n", "https://a:b1@c", "[umbra-left-out:secret] " + secret(1), "AKIA" + lot(1, 16, &base32) + " key: " + secret(2),
		"-----BEGIN PRIVATE KEY-----\n" + lot(1, 70, &base64) + "\n-----END PRIVATE KEY-----", "sk-ant-" + secret(3) + "ghp_" + secret(4), "Authorization: Basic bWU6aHVudGVyMg== /c/Users/me/k1", "API_KEY=1234567890123456 TOKEN=%TMP%/x1y2z3a4", `{\"password\": \"` + secret(1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		kept := Redact(text)
		if !bytes.Equal(text, before) {
			t.Fatal("the text was written to")
		}
		if again := Redact(kept); !bytes.Equal(again, kept) {
			t.Fatalf("%q: %q, then %q", text, kept, again)
		}
		if back, missing := Restore(kept, text); !bytes.Equal(back, text) || missing != 0 {
			t.Fatalf("%q: %q, back %q, %d missing", text, kept, back, missing)
		}
		// Each hole holds what stood there.
		if r := redact(text); !bytes.Equal(r.original(0, len(r.text)), text) {
			t.Fatalf("%q: %q", text, r.original(0, len(r.text)))
		}
	})
}
