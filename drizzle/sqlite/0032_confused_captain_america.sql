CREATE TABLE `pinned_tools` (
	`worker_uid` text NOT NULL,
	`project_id` text NOT NULL,
	`tool` text NOT NULL,
	`accepted` text,
	`waiting` text,
	`listed` text,
	`needs` text,
	`is_unstable` integer NOT NULL,
	`since` integer NOT NULL,
	`definition` text,
	`mac` text,
	PRIMARY KEY(`worker_uid`, `tool`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pinned_tools_waiting` ON `pinned_tools` (`project_id`,`worker_uid`) WHERE waiting is not null;--> statement-breakpoint
ALTER TABLE `tools` ADD `held` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `pinning` text;