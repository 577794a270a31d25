CREATE TABLE `access_requests` (
	`uid` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`approval_id` text NOT NULL,
	`policy` text NOT NULL,
	`user_id` text NOT NULL,
	`state` text NOT NULL,
	`sealed_task` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `access_requests_due` ON `access_requests` (`next_at`);--> statement-breakpoint
CREATE INDEX `access_requests_of_user` ON `access_requests` (`project_id`,`user_id`);--> statement-breakpoint
CREATE INDEX `access_requests_expiry` ON `access_requests` (`expires_at`);