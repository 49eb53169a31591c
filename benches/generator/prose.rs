//! Invented text that repeats itself about as much as the text of real sessions: prose, code, paths, CJK.
//!
//! Text is made in the spelling that it has inside a JSON string, so that nothing need be escaped later.

use super::dice::Dice;

const LATIN: &str = "\
    the a to of and is in that it for test file we this be not with as reading value returns error on \
    so which from line should then where before after function parser buffer cache index table column \
    harbour tide gauge offset second day week sorted empty first last next only once again still each \
    every some other module crate struct field method trait match branch loop thread lock queue worker \
    request response header payload stream frame record event session token budget window compile \
    build run check lint format release debug assert expect panic unwrap clone borrow move drop scope \
    lifetime generic iterator closure vector slice string number negative rounding overflow division \
    midnight calendar leap zone clock daylight summer winter archive import export viewer server \
    client socket timeout retry backoff schema migration query join filter group order limit page \
    cursor commit rebase merge conflict review comment change diff patch version upgrade depends \
    feature flag option default setting config path folder link mode owner permission sandbox network \
    proxy certificate secret signature digest checksum entropy sample median outlier threshold because \
    although therefore otherwise probably clearly unless while until between across naïve façade Größe \
    0x7f3a 1970 86400 UTF-8 O(n) Vec<u8> Result<T,E> error[E0502]";

const CJK: &str = "\
    的 会话 日志 压缩 检查 文件 测试 我们 这个 函数 返回 错误 读取 写入 因为 所以 如果 然后 港口 潮汐 时间 秒 天 负数 整数 除法 修改 目录 路径 模型 工具 调用 结果 记录 \
    事件 缓存 索引 表格 数据 格式 版本 ログ テスト ファイル エラー です ます 関数 結果 確認 修正 로그 검사 파일 오류 함수 시간 결과 🦀 🌊 cargo test \
    src/day.rs UTF-8";

const NAMES: &str = "\
    day gauge reading offset level local_day second_of_day harbour rows table parse_line width columns \
    minutes archive import daily index cursor window buffer tokens budget header frame record state \
    lookup insert remove collect iter filter extend split trim len";

const FOLDERS: &str = "\
    src src/log src/report tests tests/cli benches docs crates/tide/src web/view";

/// Which words a text is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    /// English, with what developers write between the words.
    Latin,
    /// Chinese, Japanese and Korean, with emoji and some English.
    Cjk,
}

/// A text as it stands inside a JSON string.
#[derive(Debug, Default)]
pub struct Text {
    /// The text, escaped.
    pub json: String,
    /// UTF-16 code units of the text itself: what dsh's estimate counts (FORMAT §7.5).
    pub units: u64,
    /// Where each piece ends that a model streamed in one go.
    pub ends: Vec<usize>,
}

impl Text {
    fn put(&mut self, word: Word) {
        self.json.push_str(word.json);
        self.units += word.units;
    }

    fn end_piece(&mut self) {
        self.ends.push(self.json.len());
    }

    /// The pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = self.json.get(start..end).unwrap_or_default();
            start = end;
            piece
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Word {
    json: &'static str,
    units: u64,
}

fn word(json: &'static str) -> Word {
    Word { json, units: json.encode_utf16().count() as u64 }
}

const SPACE: Word = Word { json: " ", units: 1 };
const STOP: Word = Word { json: ". ", units: 2 };
/// Two characters of JSON stand for one.
const LINE_END: Word = Word { json: "\\n", units: 1 };

/// A way of writing: its words, and a stock of phrases that come back.
#[derive(Debug)]
pub struct Prose {
    words: Vec<Word>,
    names: Vec<Word>,
    folders: Vec<Word>,
    phrases: Vec<Vec<Word>>,
}

impl Prose {
    /// The words of `tongue`, and phrases that `dice` makes of them.
    pub fn new(tongue: Tongue, dice: &mut Dice) -> Self {
        let known = |list: &'static str| list.split(' ').map(word).collect();
        let words: Vec<Word> = known(if tongue == Tongue::Cjk { CJK } else { LATIN });
        let mut phrase = || (0..dice.within([2, 6])).map(|_| pick(&words, dice)).collect();
        let phrases = (0..300).map(|_| phrase()).collect();
        Self { phrases, names: known(NAMES), folders: known(FOLDERS), words }
    }

    /// Sentences, in so many pieces of some words each.
    pub fn say(&self, pieces: u64, dice: &mut Dice) -> Text {
        let mut text = Text::default();
        for _ in 0..pieces {
            self.piece(&mut text, dice);
            text.end_piece();
        }
        text
    }

    fn piece(&self, text: &mut Text, dice: &mut Dice) {
        if dice.chance(40) {
            for &word in self.phrases.get(dice.favoured(self.phrases.len())).map_or(&[][..], Vec::as_slice) {
                text.put(word);
                text.put(SPACE);
            }
        }
        for _ in 0..dice.within([1, 4]) {
            text.put(pick(&self.words, dice));
            text.put(SPACE);
        }
        if dice.chance(15) {
            text.put(STOP);
        }
    }

    /// What a tool printed: at least `bytes` of code, places and prose, by the line.
    pub fn output(&self, bytes: usize, dice: &mut Dice) -> Text {
        let mut text = Text { json: String::with_capacity(bytes + 256), ..Text::default() };
        while text.json.len() < bytes {
            match dice.within([0, 9]) {
                0..=4 => self.code(&mut text, dice),
                5..=7 => self.found(&mut text, dice),
                _ => self.piece(&mut text, dice),
            }
            text.put(LINE_END);
        }
        text
    }

    /// A line of code.
    fn code(&self, text: &mut Text, dice: &mut Dice) {
        let forms: [&[&'static str]; 6] = [
            &["    let ", " = ", ".", "(&", ")?;"],
            &["        if ", " < ", " { return Err(", "); }"],
            &["pub fn ", "(", ": i64, ", ": &[u8]) -> Result<()> {"],
            &["    assert_eq!(", ", \\\"", "\\\", \\\"", "\\\");"],
            &["        .map(|", "| ", ".", "())"],
            &["    /// The ", " of a ", "."],
        ];
        let form = forms.get(dice.favoured(forms.len())).copied().unwrap_or_default();
        for (place, part) in form.iter().enumerate() {
            if place > 0 {
                text.put(pick(&self.names, dice));
            }
            let escapes = part.matches('\\').count() as u64;
            text.put(Word { json: part, units: part.len() as u64 - escapes });
        }
    }

    /// A place that a search found.
    fn found(&self, text: &mut Text, dice: &mut Dice) {
        self.path(text, dice);
        number(text, dice.within([1, 900]));
        self.code(text, dice);
    }

    /// A file's path and a colon.
    fn path(&self, text: &mut Text, dice: &mut Dice) {
        text.put(pick(&self.folders, dice));
        text.put(Word { json: "/", units: 1 });
        text.put(pick(&self.names, dice));
        text.put(Word { json: ".rs:", units: 4 });
    }

    /// The command of a call; it has neither quotes nor line ends.
    pub fn command(&self, dice: &mut Dice) -> Text {
        let mut text = Text::default();
        for piece in 0..dice.within([2, 6]) {
            text.put(word(if piece == 0 { "rg -n " } else { " | sed -n " }));
            text.put(pick(&self.names, dice));
            text.put(SPACE);
            text.put(pick(&self.folders, dice));
            text.end_piece();
        }
        text
    }
}

fn pick(list: &[Word], dice: &mut Dice) -> Word {
    list.get(dice.favoured(list.len())).copied().unwrap_or(SPACE)
}

fn number(text: &mut Text, number: u64) {
    let before = text.json.len();
    text.json.push_str(&number.to_string());
    text.json.push(':');
    text.units += (text.json.len() - before) as u64;
}
