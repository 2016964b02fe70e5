//! The report on a PTX text, and the exceptions from the rules.

use std::collections::BTreeMap;

use super::{Build, Finding, Rule, check};

/// A permission for a kernel to break a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The rule.
    pub rule: Rule,
    /// The kernel or function.
    pub function: String,
    /// The reason for the exception.
    pub reason: String,
}

/// The permissions of a crate's kernels to break rules, each with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions(Vec<Exception>);

impl Exceptions {
    /// Reads one exception a line, `rule kernel reason`; blank lines and lines with `#` in front are comments.
    ///
    /// # Errors
    /// The number of the first line that is not an exception, and the missing part.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut exceptions = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fail = |lack: String| format!("line {}: {lack}", index + 1);
            let mut words = line.splitn(3, char::is_whitespace);
            let rule = words.next().unwrap_or_default();
            let rule = Rule::ALL.into_iter().find(|known| known.name() == rule);
            let rule = rule.ok_or_else(|| {
                let names = Rule::ALL.map(Rule::name).join(", ");
                fail(format!("the first word is no rule; the rules are {names}"))
            })?;
            let function = words.next().unwrap_or_default().to_owned();
            let reason = words.next().unwrap_or_default().trim().to_owned();
            if function.is_empty() || reason.is_empty() {
                return Err(fail(
                    "a kernel and a reason belong behind the rule".to_owned(),
                ));
            }
            exceptions.push(Exception {
                rule,
                function,
                reason,
            });
        }
        Ok(Self(exceptions))
    }

    fn covers(&self, finding: &Finding) -> bool {
        self.0.iter().any(|exception| {
            (exception.rule, &exception.function) == (finding.rule, &finding.function)
        })
    }
}

/// Most characters shown of a line, since a table's line is long.
const MOST_CHARS: usize = 90;

/// Lines shown of each function that breaks a rule.
const SHOWN: usize = 3;

/// Checks a PTX text; `file` precedes each position in the report.
///
/// # Errors
/// The report: for each rule the problem, the remedy and the lines; and exceptions that are no longer needed.
pub fn review(file: &str, ptx: &str, build: Build, exceptions: &Exceptions) -> Result<(), String> {
    let findings = check(ptx, build);
    // Rules that a checked build does not check need no exception there.
    let needless = exceptions.0.iter().filter(|exception| {
        build == Build::Plain
            && !findings
                .iter()
                .any(|f| (f.rule, &f.function) == (exception.rule, &exception.function))
    });
    let needless: Vec<&Exception> = needless.collect();
    let mut by_rule: BTreeMap<Rule, BTreeMap<&str, Vec<&Finding>>> = BTreeMap::new();
    for finding in findings
        .iter()
        .filter(|finding| !exceptions.covers(finding))
    {
        let of_rule = by_rule.entry(finding.rule).or_default();
        of_rule.entry(&finding.function).or_default().push(finding);
    }
    let mut report = String::new();
    for (rule, functions) in &by_rule {
        report += &format!("{rule}: {}\n  instead: {}\n", rule.problem(), rule.remedy());
        for (function, findings) in functions {
            for finding in findings.iter().take(SHOWN) {
                let text = finding.text.replace('\t', " ");
                let text: String = text.chars().take(MOST_CHARS).collect();
                report += &format!("  {file}:{}: {function}: {text}\n", finding.line);
            }
            if findings.len() > SHOWN {
                let more = findings.len() - SHOWN;
                report += &format!("  {function}: {more} more lines\n");
            }
        }
    }
    for exception in needless {
        report += &format!(
            "{}: {} keeps this rule: remove it from the exceptions\n",
            exception.rule, exception.function
        );
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report)
    }
}
