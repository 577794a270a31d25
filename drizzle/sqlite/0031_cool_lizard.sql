CREATE TABLE `approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text,
	`agent` text NOT NULL,
	`used_as` text NOT NULL,
	`subject` text NOT NULL,
	`digest` text NOT NULL,
	`open_key` text,
	`status` text NOT NULL,
	`rules` text NOT NULL,
	`decisions` text NOT NULL,
	`sealed_call` text,
	`expires_at` integer NOT NULL,
	`use_until` integer,
	`execution_id` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`mac` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_open` ON `approvals` (`open_key`);--> statement-breakpoint
CREATE INDEX `approvals_of_user` ON `approvals` (`project_id`,`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `approvals_by_status` ON `approvals` (`project_id`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `approvals_expiry` ON `approvals` (`status`,`expires_at`);--> statement-breakpoint
CREATE TABLE `standing_approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text,
	`agent` text NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`digest` text NOT NULL,
	`fixed` text NOT NULL,
	`sealed_call` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`mac` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `standing_approvals_of_user` ON `standing_approvals` (`project_id`,`user_id`,`agent`);--> statement-breakpoint
CREATE INDEX `standing_approvals_expiry` ON `standing_approvals` (`expires_at`);